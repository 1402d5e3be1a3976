"""A class for each learner. Generated from the catalog by go generate ./cmd/metriclab; do not edit."""

from __future__ import annotations

from typing import Literal, Optional, Union

from numpy.typing import ArrayLike

from ._estimators import _ClassLearner, _Comparisons, _Constrained, _DataLearner, _Maps, _PairLearner, _Similarity

__all__ = ["CKL", "ERKLE", "FDA", "FTL", "GNMDS", "IPLR", "ITML", "ITMLLabels", "ITMLTuned", "InvCov", "KernelFDA", "KernelITML", "KernelLMNN", "KernelMCML", "KernelPCA", "KernelPOLA", "KernelRCA", "LEGO", "LMNN", "LSA", "MCML", "MMC", "NCA", "OASIS", "PA", "PCA", "POLA", "POLABatch", "RCA", "RMP", "SOE", "STE", "Spectral", "TSTE", "TraceSSIKDR"]


class POLA(_PairLearner):
    """POLA: online projections onto the last pair's constraint and the positive semi-definite cone.

    Use it for: a stream of pairs alike or not, when a threshold beside the distance is wanted, too; each step is quadratic in the features.
    Source: Shalev-Shwartz, Singer, Ng. Online and Batch Learning of Pseudo-Metrics. ICML 2004, Fig. 1 and Eq. 12.

    b1 : float, default 1
        start threshold; from the first update on it is at least 1; a number from -1e+100 to 1e+100
    gamma : float, default 0
        relaxation for inseparable data (Eq. 12); 0 is the algorithm of Fig. 1; a finite number ≥ 0
    passes : Optional[int], default None
        how often the feedback is seen; None means once
    n_constraints : Optional[int], default None
        pairs that are drawn from classes, half of them similar; None means 1000
    random_state : Optional[int], default None
        origin of these draws, from 0, which None means; --seed of metriclab is one more
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    preprocessor : Optional[ArrayLike], default None
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "pola"
    _own = ("b1", "gamma")

    def __init__(
        self,
        *,
        b1: float = 1,
        gamma: float = 0,
        passes: Optional[int] = None,
        n_constraints: Optional[int] = None,
        random_state: Optional[int] = None,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        preprocessor: Optional[ArrayLike] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.b1 = b1
        self.gamma = gamma
        self.passes = passes
        self.n_constraints = n_constraints
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.preprocessor = preprocessor
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class KernelPOLA(_PairLearner):
    """POLA between images under a kernel's feature map; it stores points, without a bound in general; features should be centred.

    Use it for: a stream of pairs, short enough to store, when no linear map separates alike from different.
    Source: Shalev-Shwartz, Singer, Ng. Online and Batch Learning of Pseudo-Metrics. ICML 2004, Section 3.3.

    b1 : float, default 1
        start threshold; from the first update on it is at least 1; a number from -1e+100 to 1e+100
    gamma : float, default 0
        relaxation for inseparable data (Eq. 12); 0 is the algorithm of Fig. 1; a finite number ≥ 0
    kernel : Literal["gaussian", "linear", "polynomial"], default "gaussian"
        linear x·z, polynomial (x·z + offset)^degree, or gaussian exp(−kernel-gamma·‖x−z‖²)
    kernel_gamma : Union[float, Literal["1/dim"]], default "1/dim"
        width of the gaussian kernel, in 1/feature²; a finite number > 0, or 1/dim; only with kernel=gaussian
    degree : int, default 2
        degree of the polynomial kernel; an integer from 1 to 1000000; only with kernel=polynomial
    offset : float, default 1
        offset of the polynomial kernel; a finite number ≥ 0; only with kernel=polynomial
    passes : Optional[int], default None
        how often the feedback is seen; None means once
    n_constraints : Optional[int], default None
        pairs that are drawn from classes, half of them similar; None means 1000
    random_state : Optional[int], default None
        origin of these draws, from 0, which None means; --seed of metriclab is one more
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    preprocessor : Optional[ArrayLike], default None
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "kernel-pola"
    _own = ("b1", "gamma", "kernel", "kernel_gamma", "degree", "offset")
    _table = True

    def __init__(
        self,
        *,
        b1: float = 1,
        gamma: float = 0,
        kernel: Literal["gaussian", "linear", "polynomial"] = "gaussian",
        kernel_gamma: Union[float, Literal["1/dim"]] = "1/dim",
        degree: int = 2,
        offset: float = 1,
        passes: Optional[int] = None,
        n_constraints: Optional[int] = None,
        random_state: Optional[int] = None,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        preprocessor: Optional[ArrayLike] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.b1 = b1
        self.gamma = gamma
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.degree = degree
        self.offset = offset
        self.passes = passes
        self.n_constraints = n_constraints
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.preprocessor = preprocessor
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class PA(_PairLearner):
    """passive-aggressive steps onto or toward the last pair's constraint, and least squares.

    Use it for: a stream of pairs with wrong labels in it: rule=pa1 or pa2 bounds what one pair can do.
    Source: Perez-Suay, Ferri. Online Metric Learning Methods Using Soft Margins and Least Squares Formulations. 2013, Section 2.

    rule : Literal["pa", "pa1", "pa2", "pals"], default "pa"
        hard margin, slack in the loss (PA-I), its square (PA-II), or least squares (PA-LS)
    c : float, default 1
        weight of the loss against the length of the step; a finite number > 0; only with rule=pa1|pa2|pals
    psd : Literal["step", "end"], default "step"
        when the matrix is made positive semi-definite and the threshold at least 1: each step, or only what is returned at the end
    b0 : float, default 0
        start threshold; a number from -1e+100 to 1e+100
    tol : float, default 0
        largest loss of a pair on which no update is made; a finite number ≥ 0; only with rule=pals
    m0 : float, default 0
        start matrix, as a multiple of the identity; a number from 0 to 1e+100
    every : int, default 0
        make the matrix feasible after every so many updates, too; 0 means never; an integer from 0 to 1000000000; only with psd=end
    passes : Optional[int], default None
        how often the feedback is seen; None means once
    n_constraints : Optional[int], default None
        pairs that are drawn from classes, half of them similar; None means 1000
    random_state : Optional[int], default None
        origin of these draws, from 0, which None means; --seed of metriclab is one more
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    preprocessor : Optional[ArrayLike], default None
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "pa"
    _own = ("rule", "c", "psd", "b0", "tol", "m0", "every")

    def __init__(
        self,
        *,
        rule: Literal["pa", "pa1", "pa2", "pals"] = "pa",
        c: float = 1,
        psd: Literal["step", "end"] = "step",
        b0: float = 0,
        tol: float = 0,
        m0: float = 0,
        every: int = 0,
        passes: Optional[int] = None,
        n_constraints: Optional[int] = None,
        random_state: Optional[int] = None,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        preprocessor: Optional[ArrayLike] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.rule = rule
        self.c = c
        self.psd = psd
        self.b0 = b0
        self.tol = tol
        self.m0 = m0
        self.every = every
        self.passes = passes
        self.n_constraints = n_constraints
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.preprocessor = preprocessor
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class LEGO(_PairLearner):
    """LEGO, LogDet Online: implicit steps in the LogDet divergence toward a squared distance for similar pairs and one for dissimilar pairs.

    Use it for: a stream of pairs, when similar ones should come nearer than one distance and others be farther than another; it never projects, so steps are cheap.
    Source: Jain, Kulis, Dhillon, Grauman. Online Metric Learning and Fast Similarity Search. NIPS 2008; Jain et al. JMLR 13, 2012, Section 6.

    eta : float, default 0.5
        weight of the loss against the divergence from the last matrix; a finite number > 0
    u : float, default 2
        squared distance wanted of similar pairs; a number > 0 and < l
    l : float, default 8
        squared distance wanted of dissimilar pairs; a number > u and at most 1e+100
    update : Literal["always", "violated"], default "always"
        on every pair, or on similar pairs farther than u and dissimilar ones nearer than l
    passes : Optional[int], default None
        how often the feedback is seen; None means once
    n_constraints : Optional[int], default None
        pairs that are drawn from classes, half of them similar; None means 1000
    random_state : Optional[int], default None
        origin of these draws, from 0, which None means; --seed of metriclab is one more
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    preprocessor : Optional[ArrayLike], default None
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "lego"
    _own = ("eta", "u", "l", "update")

    def __init__(
        self,
        *,
        eta: float = 0.5,
        u: float = 2,
        l: float = 8,
        update: Literal["always", "violated"] = "always",
        passes: Optional[int] = None,
        n_constraints: Optional[int] = None,
        random_state: Optional[int] = None,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        preprocessor: Optional[ArrayLike] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.eta = eta
        self.u = u
        self.l = l
        self.update = update
        self.passes = passes
        self.n_constraints = n_constraints
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.preprocessor = preprocessor
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class ERKLE(_Comparisons):
    """ERKLE: a gradient step on the last comparison, and the projection onto the positive semi-definite cone; it keeps all comparisons if beta > 1.

    Use it for: answers to "is A nearer to B or to C?" that arrive one by one, about objects without features.
    Source: Heim, Berger, Seversky, Hauskrecht. Efficient Online Relative Comparison Kernel Learning. SDM 2015, Algorithms 1 and 2.

    loss : Literal["gnmds", "ste"], default "gnmds"
        hinge or logistic loss of the difference of squared distances
    step : Literal["pa", "constant", "inverse", "inverse-sqrt"], default "pa"
        length of the step: passive-aggressive, delta, delta/j, or delta/sqrt(j) in round j
    delta : float, default 1
        factor of the step; a number > 0 and at most 1e+100; only with step=constant|inverse|inverse-sqrt
    margin : float, default 1
        margin of the hinge loss; a number > 0 and at most 1e+100; only with loss=gnmds
    p : float, default 0.7310585786300049
        probability of the last comparison after a passive-aggressive step; a number > 0.5 and < 1; only with loss=ste and step=pa
    beta : int, default 1
        steps per round, all but one of them on earlier comparisons, drawn at random; an integer from 1 to 1000000
    gradient : Literal["printed", "frobenius"], default "printed"
        gradient matrix as printed, or that in the Frobenius inner product
    trace : float, default 0
        weight of the trace of the kernel beside the loss; a number from 0 to 1e+100
    reject : float, default 0
        largest step that is made; 0 means any; a number from 0 to 1e+100
    seed : int, default 1
        origin of the draws; an integer ≥ 0
    passes : Optional[int], default None
        how often the feedback is seen; None means once
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "erkle"
    _own = ("loss", "step", "delta", "margin", "p", "beta", "gradient", "trace", "reject", "seed")

    def __init__(
        self,
        *,
        loss: Literal["gnmds", "ste"] = "gnmds",
        step: Literal["pa", "constant", "inverse", "inverse-sqrt"] = "pa",
        delta: float = 1,
        margin: float = 1,
        p: float = 0.7310585786300049,
        beta: int = 1,
        gradient: Literal["printed", "frobenius"] = "printed",
        trace: float = 0,
        reject: float = 0,
        seed: int = 1,
        passes: Optional[int] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.loss = loss
        self.step = step
        self.delta = delta
        self.margin = margin
        self.p = p
        self.beta = beta
        self.gradient = gradient
        self.trace = trace
        self.reject = reject
        self.seed = seed
        self.passes = passes
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class OASIS(_Similarity):
    """OASIS: a step along the last comparison of a query with two vectors, to a similarity xᵀWy that need be no metric.

    Use it for: clicks or judgements on search results: a similarity of query and document that ranks, with no need of a distance.
    Source: Chechik, Sharma, Shalit, Bengio. Large Scale Online Learning of Image Similarity Through Ranking. JMLR 11, 2010, Section 3.

    c : float, default 0.1
        longest step; a finite number > 0
    form : Literal["free", "symmetric", "psd"], default "free"
        any matrix, a symmetric one, or a positive semi-definite one, which is also a metric
    every : int, default 0
        make the matrix positive semi-definite after every so many updates, too; 0 means never; an integer from 0 to 1000000000; only with form=psd
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "oasis"
    _own = ("c", "form", "every")

    def __init__(
        self,
        *,
        c: float = 0.1,
        form: Literal["free", "symmetric", "psd"] = "free",
        every: int = 0,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.c = c
        self.form = form
        self.every = every
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class GNMDS(_Comparisons):
    """hinge loss of the difference of squared distances, in batch, with a weight of the trace; a kernel, or few coordinates.

    Use it for: answers at hand all at once and mostly right: it asks for a margin, and wrong ones weigh as much as they are off.
    Source: Agarwal, Wills, Cayton, Lanckriet, Kriegman, Belongie. Generalized Non-metric Multidimensional Scaling. AISTATS 2007.

    margin : float, default 1
        margin of the hinge loss; a number > 0 and at most 1e+100
    dim : Union[int, Literal["all", "auto"]], default "all"
        number of coordinates; auto tries 1 to 6 on held-out questions and takes the smallest within a standard error of the best; all is a kernel; all, auto, or an integer from 1 to 1000000000
    tau : Union[float, Literal["auto"]], default "auto"
        weight of the trace, which makes the rank low; auto tries 100, 10, 1, 0.1 and 0.01 on held-out questions; auto, or a number from 0 to 1e+100
    tol : float, default 0.001
        residual at which to stop, relative to the objective at 0; a number > 0 and at most 1e+100
    iterations : int, default 5000
        cap on steps, of each fit; an integer from 1 to 1000000000
    starts : int, default 10
        starts from random coordinates, of which the best is kept; an integer from 1 to 1000000000; only with dim!=all
    seed : int, default 1
        origin of the draws; an integer ≥ 0; only with tau=auto or dim!=all
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "gnmds"
    _own = ("margin", "dim", "tau", "tol", "iterations", "starts", "seed")

    def __init__(
        self,
        *,
        margin: float = 1,
        dim: Union[int, Literal["all", "auto"]] = "all",
        tau: Union[float, Literal["auto"]] = "auto",
        tol: float = 0.001,
        iterations: int = 5000,
        starts: int = 10,
        seed: int = 1,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.margin = margin
        self.dim = dim
        self.tau = tau
        self.tol = tol
        self.iterations = iterations
        self.starts = starts
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class STE(_Comparisons):
    """stochastic triplet embedding: logistic loss of the difference of squared distances, in batch, with a weight of the trace; a kernel, or few coordinates.

    Use it for: answers at hand all at once, with errors where the two distances are alike; the first to try, since it is convex and gives probabilities.
    Source: van der Maaten, Weinberger. Stochastic Triplet Embedding. MLSP 2012.

    dim : Union[int, Literal["all", "auto"]], default "all"
        number of coordinates; auto tries 1 to 6 on held-out questions and takes the smallest within a standard error of the best; all is a kernel; all, auto, or an integer from 1 to 1000000000
    tau : Union[float, Literal["auto"]], default "auto"
        weight of the trace, which makes the rank low; auto tries 100, 10, 1, 0.1 and 0.01 on held-out questions; auto, or a number from 0 to 1e+100
    tol : float, default 0.001
        residual at which to stop, relative to the objective at 0; a number > 0 and at most 1e+100
    iterations : int, default 5000
        cap on steps, of each fit; an integer from 1 to 1000000000
    starts : int, default 10
        starts from random coordinates, of which the best is kept; an integer from 1 to 1000000000; only with dim!=all
    seed : int, default 1
        origin of the draws; an integer ≥ 0; only with tau=auto or dim!=all
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "ste"
    _own = ("dim", "tau", "tol", "iterations", "starts", "seed")

    def __init__(
        self,
        *,
        dim: Union[int, Literal["all", "auto"]] = "all",
        tau: Union[float, Literal["auto"]] = "auto",
        tol: float = 0.001,
        iterations: int = 5000,
        starts: int = 10,
        seed: int = 1,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.dim = dim
        self.tau = tau
        self.tol = tol
        self.iterations = iterations
        self.starts = starts
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class CKL(_Comparisons):
    """crowd kernel: odds of the two squared distances, in batch, with a weight of the trace; not convex; a kernel, or few coordinates.

    Use it for: answers at hand all at once, of people who err by the ratio of the two distances; choosing the next question is built on it.
    Source: Tamuz, Liu, Belongie, Shamir, Kalai. Adaptively Learning the Crowd Kernel. ICML 2011.

    mu : float, default 0.05
        added to both squared distances; a number > 0 and at most 1e+100
    dim : Union[int, Literal["all", "auto"]], default "all"
        number of coordinates; auto tries 1 to 6 on held-out questions and takes the smallest within a standard error of the best; all is a kernel; all, auto, or an integer from 1 to 1000000000
    tau : Union[float, Literal["auto"]], default "auto"
        weight of the trace, which makes the rank low; auto tries 100, 10, 1, 0.1 and 0.01 on held-out questions; auto, or a number from 0 to 1e+100
    tol : float, default 0.001
        residual at which to stop, relative to the objective at 0; a number > 0 and at most 1e+100
    iterations : int, default 5000
        cap on steps, of each fit; an integer from 1 to 1000000000
    starts : int, default 10
        starts from random coordinates, of which the best is kept; an integer from 1 to 1000000000; only with dim!=all
    seed : int, default 1
        origin of the draws; an integer ≥ 0; only with tau=auto or dim!=all
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "ckl"
    _own = ("mu", "dim", "tau", "tol", "iterations", "starts", "seed")

    def __init__(
        self,
        *,
        mu: float = 0.05,
        dim: Union[int, Literal["all", "auto"]] = "all",
        tau: Union[float, Literal["auto"]] = "auto",
        tol: float = 0.001,
        iterations: int = 5000,
        starts: int = 10,
        seed: int = 1,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.mu = mu
        self.dim = dim
        self.tau = tau
        self.tol = tol
        self.iterations = iterations
        self.starts = starts
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class TSTE(_Comparisons):
    """t-STE: odds under Student's t, by which a wrong answer pulls little; few coordinates, from several starts.

    Use it for: a map of objects in clusters, or of some that lie far out, with wrong answers: one that is far off pulls little.
    Source: van der Maaten, Weinberger. Stochastic Triplet Embedding. MLSP 2012.

    alpha : float, default 0
        degrees of freedom of Student's t, whose tail is heavy where they are few; 0 is dim - 1, at least 1; a number from 0 to 1e+100
    dim : Union[int, Literal["auto"]], default 2
        number of coordinates; auto tries 1 to 6 on held-out questions and takes the smallest within a standard error of the best; auto, or an integer from 1 to 1000000000
    tau : Union[float, Literal["auto"]], default "auto"
        weight of the trace, which makes the rank low; auto tries 100, 10, 1, 0.1 and 0.01 on held-out questions; auto, or a number from 0 to 1e+100
    tol : float, default 0.001
        residual at which to stop, relative to the objective at 0; a number > 0 and at most 1e+100
    iterations : int, default 5000
        cap on steps, of each fit; an integer from 1 to 1000000000
    starts : int, default 10
        starts from random coordinates, of which the best is kept; an integer from 1 to 1000000000
    seed : int, default 1
        origin of the draws; an integer ≥ 0
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "tste"
    _own = ("alpha", "dim", "tau", "tol", "iterations", "starts", "seed")

    def __init__(
        self,
        *,
        alpha: float = 0,
        dim: Union[int, Literal["auto"]] = 2,
        tau: Union[float, Literal["auto"]] = "auto",
        tol: float = 0.001,
        iterations: int = 5000,
        starts: int = 10,
        seed: int = 1,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.alpha = alpha
        self.dim = dim
        self.tau = tau
        self.tol = tol
        self.iterations = iterations
        self.starts = starts
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class SOE(_Comparisons):
    """soft ordinal embedding: squared hinge loss of the difference of distances; few coordinates, from several starts.

    Use it for: a map, as the first to try: on points made up in the plane it was the best or near it, whether answers were right or not.
    Source: Terada, von Luxburg. Local Ordinal Embedding. ICML 2014.

    margin : float, default 1
        margin of the hinge loss; a number > 0 and at most 1e+100
    dim : Union[int, Literal["auto"]], default 2
        number of coordinates; auto tries 1 to 6 on held-out questions and takes the smallest within a standard error of the best; auto, or an integer from 1 to 1000000000
    tau : Union[float, Literal["auto"]], default "auto"
        weight of the trace, which makes the rank low; auto tries 100, 10, 1, 0.1 and 0.01 on held-out questions; auto, or a number from 0 to 1e+100
    tol : float, default 0.001
        residual at which to stop, relative to the objective at 0; a number > 0 and at most 1e+100
    iterations : int, default 5000
        cap on steps, of each fit; an integer from 1 to 1000000000
    starts : int, default 10
        starts from random coordinates, of which the best is kept; an integer from 1 to 1000000000
    seed : int, default 1
        origin of the draws; an integer ≥ 0
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "soe"
    _own = ("margin", "dim", "tau", "tol", "iterations", "starts", "seed")

    def __init__(
        self,
        *,
        margin: float = 1,
        dim: Union[int, Literal["auto"]] = 2,
        tau: Union[float, Literal["auto"]] = "auto",
        tol: float = 0.001,
        iterations: int = 5000,
        starts: int = 10,
        seed: int = 1,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.margin = margin
        self.dim = dim
        self.tau = tau
        self.tol = tol
        self.iterations = iterations
        self.starts = starts
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class RMP(_Maps):
    """randomized map prediction: maps to few prototypes, drawn by exponential weights.

    Use it for: costs of assignments that arrive round by round and may be hostile: its regret is bounded whatever comes.
    Source: Rakhlin, Abernethy, Bartlett. Online Discovery of Similarity Mappings. ICML 2007, Algorithms 1 and 2.

    m : int, default 0
        largest number of prototypes that a map uses; 0 means 2, or 1 if there is only one; 0, or an integer from 1 to the number of prototypes
    eta : Union[float, Literal["hundredfold", "printed", "corrected", "anytime"]], default "hundredfold"
        learning rate: 100 times the printed one, as printed in Theorem 2.1, divided by the number of objects as its proof needs, the latter for a horizon that grows, or fixed; hundredfold, printed, corrected, anytime, or a number > 0 and at most 1e+100
    rounds : int, default 0
        rounds to come; 0 means the doubling trick, or with hundredfold the rounds so far; an integer from 0 to 9007199254740992; only with eta=hundredfold|printed|corrected
    sampler : Literal["auto", "enumerate", "metropolis", "heat-bath"], default "auto"
        all sets, a random walk of uniform swaps, or one with weighed swaps; auto means all sets up to 100000 of them, else metropolis
    chain_steps : int, default 5000
        steps of the random walk per round; an integer from 1 to 10000000; only with sampler=auto|metropolis|heat-bath
    seed : int, default 1
        origin of the draws; an integer ≥ 0
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "rmp"
    _own = ("m", "eta", "rounds", "sampler", "chain_steps", "seed")

    def __init__(
        self,
        *,
        m: int = 0,
        eta: Union[float, Literal["hundredfold", "printed", "corrected", "anytime"]] = "hundredfold",
        rounds: int = 0,
        sampler: Literal["auto", "enumerate", "metropolis", "heat-bath"] = "auto",
        chain_steps: int = 5000,
        seed: int = 1,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.m = m
        self.eta = eta
        self.rounds = rounds
        self.sampler = sampler
        self.chain_steps = chain_steps
        self.seed = seed
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class FTL(_Maps):
    """follow the leader: the map to few prototypes that would have cost least so far.

    Use it for: costs of assignments that come from one unchanging source; where they may be chosen against it, take rmp.
    Source: Rakhlin, Abernethy, Bartlett. Online Discovery of Similarity Mappings. ICML 2007, Section 5.1.

    m : int, default 0
        largest number of prototypes that a map uses; 0 means 2, or 1 if there is only one; 0, or an integer from 1 to the number of prototypes
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "ftl"
    _own = ("m",)

    def __init__(
        self,
        *,
        m: int = 0,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.m = m
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class POLABatch(_PairLearner):
    """batch POLA: POLA repeated until no pair has a hinge loss above beta.

    Use it for: pairs at hand all at once, when one pass of pola leaves too many of them wrong.
    Source: Shalev-Shwartz, Singer, Ng. Online and Batch Learning of Pseudo-Metrics. ICML 2004, Section 6.

    b1 : float, default 1
        start threshold; from the first update on it is at least 1; a number from -1e+100 to 1e+100
    gamma : float, default 0
        relaxation for inseparable data (Eq. 12); 0 is the algorithm of Fig. 1; a finite number ≥ 0
    beta : float, default 0.1
        largest hinge loss of a pair that is accepted; a finite number > 0
    reading : Literal["passes", "violations"], default "passes"
        an iteration is a pass over the pairs, or a step on the pair of the largest loss
    iterations : int, default 0
        cap on iterations; 0 means 1000 passes, or 1000 steps per pair; an integer from 0 to 1000000000
    n_constraints : Optional[int], default None
        pairs that are drawn from classes, half of them similar; None means 1000
    random_state : Optional[int], default None
        origin of these draws, from 0, which None means; --seed of metriclab is one more
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    preprocessor : Optional[ArrayLike], default None
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "pola-batch"
    _own = ("b1", "gamma", "beta", "reading", "iterations")

    def __init__(
        self,
        *,
        b1: float = 1,
        gamma: float = 0,
        beta: float = 0.1,
        reading: Literal["passes", "violations"] = "passes",
        iterations: int = 0,
        n_constraints: Optional[int] = None,
        random_state: Optional[int] = None,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        preprocessor: Optional[ArrayLike] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.b1 = b1
        self.gamma = gamma
        self.beta = beta
        self.reading = reading
        self.iterations = iterations
        self.n_constraints = n_constraints
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.preprocessor = preprocessor
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class MMC(_PairLearner):
    """metric learning for clustering: dissimilar pairs as far apart in sum as similar pairs, which stay near, allow; of low rank, or a weight for each feature.

    Use it for: pairs at hand all at once, when dissimilar ones differ in few directions: it keeps one to five of them as a rule, or weighs features; itml keeps more of the distances.
    Source: Xing, Ng, Jordan, Russell. Distance Metric Learning, with Application to Clustering with Side-Information. NIPS 15, 2002, Section 2.

    matrix : Literal["full", "diagonal"], default "full"
        any positive semi-definite matrix, or a weight for each feature
    ridge : float, default 0
        weight of the trace in the constraint, relative to the mean squared difference of a feature in similar pairs; a finite number ≥ 0
    tol : float, default 1e-06
        relative distance from the maximum at which to stop; a finite number > 0
    iterations : int, default 1000
        cap on iterations; an integer from 1 to 1000000000
    n_constraints : Optional[int], default None
        pairs that are drawn from classes, half of them similar; None means 1000
    random_state : Optional[int], default None
        origin of these draws, from 0, which None means; --seed of metriclab is one more
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    preprocessor : Optional[ArrayLike], default None
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "mmc"
    _own = ("matrix", "ridge", "tol", "iterations")

    def __init__(
        self,
        *,
        matrix: Literal["full", "diagonal"] = "full",
        ridge: float = 0,
        tol: float = 1e-06,
        iterations: int = 1000,
        n_constraints: Optional[int] = None,
        random_state: Optional[int] = None,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        preprocessor: Optional[ArrayLike] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.matrix = matrix
        self.ridge = ridge
        self.tol = tol
        self.iterations = iterations
        self.n_constraints = n_constraints
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.preprocessor = preprocessor
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class RCA(_PairLearner):
    """relevant component analysis: the inverse covariance within chunklets of similar rows.

    Use it for: rows known to be alike and none known to differ; closed form.
    Source: Shental, Hertz, Weinshall, Pavel. Adjustment Learning and Relevant Component Analysis. ECCV 2002.

    ridge : float, default 0
        regularisation, relative to the mean variance within chunklets; a finite number ≥ 0
    n_constraints : Optional[int], default None
        pairs that are drawn from classes, half of them similar; None means 1000
    random_state : Optional[int], default None
        origin of these draws, from 0, which None means; --seed of metriclab is one more
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    preprocessor : Optional[ArrayLike], default None
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "rca"
    _own = ("ridge",)

    def __init__(
        self,
        *,
        ridge: float = 0,
        n_constraints: Optional[int] = None,
        random_state: Optional[int] = None,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        preprocessor: Optional[ArrayLike] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.ridge = ridge
        self.n_constraints = n_constraints
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.preprocessor = preprocessor
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class KernelRCA(_PairLearner):
    """rca between images under a kernel's feature map, and so for new points, which it embeds; it stores the rows that span the images.

    Use it for: what rca is for, where no linear map of the features is enough; time is cubic in the rows, unless landmarks bounds it.
    Source: Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Section 5.3; Shental et al. ECCV 2002.

    ridge : float, default 0
        regularisation, relative to the mean variance within chunklets, over the dimensions that the rows span; a finite number ≥ 0
    kernel : Literal["gaussian", "linear", "polynomial"], default "gaussian"
        linear x·z, polynomial (x·z + offset)^degree, or gaussian exp(−kernel-gamma·‖x−z‖²)
    kernel_gamma : Union[float, Literal["1/dim"]], default "1/dim"
        width of the gaussian kernel, in 1/feature²; a finite number > 0, or 1/dim; only with kernel=gaussian
    degree : int, default 2
        degree of the polynomial kernel; an integer from 1 to 1000000; only with kernel=polynomial
    offset : float, default 1
        offset of the polynomial kernel; a finite number ≥ 0; only with kernel=polynomial
    landmarks : int, default 0
        approximation: the metric is learned in the span of so many rows, on which the others are projected, and only they are stored; 0 means exact; an integer from 0 to 1000000000
    n_constraints : Optional[int], default None
        pairs that are drawn from classes, half of them similar; None means 1000
    random_state : Optional[int], default None
        origin of these draws, from 0, which None means; --seed of metriclab is one more
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    preprocessor : Optional[ArrayLike], default None
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "kernel-rca"
    _own = ("ridge", "kernel", "kernel_gamma", "degree", "offset", "landmarks")
    _table = True

    def __init__(
        self,
        *,
        ridge: float = 0,
        kernel: Literal["gaussian", "linear", "polynomial"] = "gaussian",
        kernel_gamma: Union[float, Literal["1/dim"]] = "1/dim",
        degree: int = 2,
        offset: float = 1,
        landmarks: int = 0,
        n_constraints: Optional[int] = None,
        random_state: Optional[int] = None,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        preprocessor: Optional[ArrayLike] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.ridge = ridge
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.degree = degree
        self.offset = offset
        self.landmarks = landmarks
        self.n_constraints = n_constraints
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.preprocessor = preprocessor
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class ITML(_PairLearner):
    """information-theoretic metric learning, also called logdet: the metric closest to a start in LogDet divergence, with bounds on squared distances.

    Use it for: pairs at hand all at once, few beside the features: it changes the start matrix as little as they allow.
    Source: Davis, Kulis, Jain, Sra, Dhillon. Information-Theoretic Metric Learning. ICML 2007; Jain et al. JMLR 13, 2012, Algorithm 1.

    slack : Literal["soft", "hard"], default "soft"
        bounds may be exceeded at a price, or not at all
    gamma : float, default 1
        price of exceeding a bound; a finite number > 0; only with slack=soft
    start : Literal["identity", "invcov"], default "identity"
        matrix to stay close to, under which the rule of the bounds measures too: that of the Euclidean distance, or the inverse covariance of all rows (LogDet-InvCov)
    ridge : float, default 0
        regularisation of the covariance, relative to the mean variance of a feature; 0 means the pseudo-inverse; a finite number ≥ 0; only with start=invcov
    rule : Literal["percentiles", "bins", "given"], default "percentiles"
        bounds are percentiles of squared distances, centres of 100 equal bins between the least and the largest, or given as upper and lower
    low : float, default 0
        percentile or bin (at least 1) of the bound on similar pairs; 0 means percentile 1 or bin 5; 0, or a number > 0 and < high; only with rule=percentiles|bins
    high : float, default 0
        percentile or bin of the bound on dissimilar pairs; 0 means percentile 99 or bin 95; 0, or a number > low and at most 100; only with rule=percentiles|bins
    upper : float, default 0
        largest squared distance wanted of similar pairs; 0 stands for none given; 0, or a number ≥ 1e-140 and < lower; only with rule=given
    lower : float, default 0
        smallest squared distance wanted of dissimilar pairs; 0 stands for none given; 0, or a number > upper and at most 1e+140; only with rule=given
    tol : float, default 0.001
        relative change of the multipliers over a cycle at which to stop; a finite number > 0
    cycles : int, default 0
        cap on cycles over the pairs; 0 means those of 100000 steps; an integer from 0 to 1000000000
    margin : float, default 1
        by how much the farther squared distance is to exceed the nearer one; a finite number > 0; only with relative comparisons of rows
    c : float, default 1
        weight of the slacks: half of it for each squared violation; a finite number > 0; only with relative comparisons of rows
    max_cycles : int, default 100
        cap on cycles over the comparisons; an integer from 0 to 1000000000; only with relative comparisons of rows
    n_constraints : Optional[int], default None
        pairs that are drawn from classes, half of them similar; None means 1000
    random_state : Optional[int], default None
        origin of these draws, from 0, which None means; --seed of metriclab is one more
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    preprocessor : Optional[ArrayLike], default None
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "itml"
    _own = ("slack", "gamma", "start", "ridge", "rule", "low", "high", "upper", "lower", "tol", "cycles", "margin", "c", "max_cycles")

    def __init__(
        self,
        *,
        slack: Literal["soft", "hard"] = "soft",
        gamma: float = 1,
        start: Literal["identity", "invcov"] = "identity",
        ridge: float = 0,
        rule: Literal["percentiles", "bins", "given"] = "percentiles",
        low: float = 0,
        high: float = 0,
        upper: float = 0,
        lower: float = 0,
        tol: float = 0.001,
        cycles: int = 0,
        margin: float = 1,
        c: float = 1,
        max_cycles: int = 100,
        n_constraints: Optional[int] = None,
        random_state: Optional[int] = None,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        preprocessor: Optional[ArrayLike] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.slack = slack
        self.gamma = gamma
        self.start = start
        self.ridge = ridge
        self.rule = rule
        self.low = low
        self.high = high
        self.upper = upper
        self.lower = lower
        self.tol = tol
        self.cycles = cycles
        self.margin = margin
        self.c = c
        self.max_cycles = max_cycles
        self.n_constraints = n_constraints
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.preprocessor = preprocessor
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class KernelITML(_PairLearner):
    """itml, also called kernel-logdet, between images under a kernel's feature map, and so for new points; it stores the rows that pairs join; features should be centred.

    Use it for: pairs at hand all at once, when no linear map separates alike from different; up to a few thousand pairs.
    Source: Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Algorithm 1 and Eq. 6.

    slack : Literal["soft", "hard"], default "soft"
        bounds may be exceeded at a price, or not at all
    gamma : float, default 1
        price of exceeding a bound; a finite number > 0; only with slack=soft
    rule : Literal["percentiles", "bins", "given"], default "percentiles"
        bounds are percentiles of squared distances, centres of 100 equal bins between the least and the largest, or given as upper and lower
    low : float, default 0
        percentile or bin (at least 1) of the bound on similar pairs; 0 means percentile 1 or bin 5; 0, or a number > 0 and < high; only with rule=percentiles|bins
    high : float, default 0
        percentile or bin of the bound on dissimilar pairs; 0 means percentile 99 or bin 95; 0, or a number > low and at most 100; only with rule=percentiles|bins
    upper : float, default 0
        largest squared distance wanted of similar pairs; 0 stands for none given; 0, or a number ≥ 1e-140 and < lower; only with rule=given
    lower : float, default 0
        smallest squared distance wanted of dissimilar pairs; 0 stands for none given; 0, or a number > upper and at most 1e+140; only with rule=given
    tol : float, default 0.001
        relative change of the multipliers over a cycle at which to stop; a finite number > 0
    cycles : int, default 0
        cap on cycles over the pairs; 0 means those of 100000 steps; an integer from 0 to 1000000000
    kernel : Literal["gaussian", "linear", "polynomial"], default "gaussian"
        linear x·z, polynomial (x·z + offset)^degree, or gaussian exp(−kernel-gamma·‖x−z‖²)
    kernel_gamma : Union[float, Literal["1/dim"]], default "1/dim"
        width of the gaussian kernel, in 1/feature²; a finite number > 0, or 1/dim; only with kernel=gaussian
    degree : int, default 2
        degree of the polynomial kernel; an integer from 1 to 1000000; only with kernel=polynomial
    offset : float, default 1
        offset of the polynomial kernel; a finite number ≥ 0; only with kernel=polynomial
    landmarks : int, default 0
        approximation: the metric is learned in the span of so many rows, which represent the others, and only they are stored; 0 means exact; an integer from 0 to 1000000000
    n_constraints : Optional[int], default None
        pairs that are drawn from classes, half of them similar; None means 1000
    random_state : Optional[int], default None
        origin of these draws, from 0, which None means; --seed of metriclab is one more
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    preprocessor : Optional[ArrayLike], default None
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "kernel-itml"
    _own = ("slack", "gamma", "rule", "low", "high", "upper", "lower", "tol", "cycles", "kernel", "kernel_gamma", "degree", "offset", "landmarks")
    _table = True

    def __init__(
        self,
        *,
        slack: Literal["soft", "hard"] = "soft",
        gamma: float = 1,
        rule: Literal["percentiles", "bins", "given"] = "percentiles",
        low: float = 0,
        high: float = 0,
        upper: float = 0,
        lower: float = 0,
        tol: float = 0.001,
        cycles: int = 0,
        kernel: Literal["gaussian", "linear", "polynomial"] = "gaussian",
        kernel_gamma: Union[float, Literal["1/dim"]] = "1/dim",
        degree: int = 2,
        offset: float = 1,
        landmarks: int = 0,
        n_constraints: Optional[int] = None,
        random_state: Optional[int] = None,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        preprocessor: Optional[ArrayLike] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.slack = slack
        self.gamma = gamma
        self.rule = rule
        self.low = low
        self.high = high
        self.upper = upper
        self.lower = lower
        self.tol = tol
        self.cycles = cycles
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.degree = degree
        self.offset = offset
        self.landmarks = landmarks
        self.n_constraints = n_constraints
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.preprocessor = preprocessor
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class ITMLLabels(_ClassLearner):
    """itml on pairs of rows drawn from the classes, with bounds from another draw.

    Use it for: classes, when itml is to be used as papers use it; with time to choose gamma, take itml-tuned.
    Source: Davis, Kulis, Jain, Sra, Dhillon. Information-Theoretic Metric Learning. ICML 2007; Perez-Suay, Ferri 2013, Section 3.

    slack : Literal["soft", "hard"], default "soft"
        bounds may be exceeded at a price, or not at all
    gamma : float, default 1
        price of exceeding a bound; a finite number > 0; only with slack=soft
    start : Literal["identity", "invcov"], default "identity"
        matrix to stay close to, under which the rule of the bounds measures too: that of the Euclidean distance, or the inverse covariance of all rows (LogDet-InvCov)
    ridge : float, default 0
        regularisation of the covariance, relative to the mean variance of a feature; 0 means the pseudo-inverse; a finite number ≥ 0; only with start=invcov
    rule : Literal["percentiles", "bins", "given"], default "percentiles"
        bounds are percentiles of squared distances, centres of 100 equal bins between the least and the largest, or given as upper and lower
    low : float, default 0
        percentile or bin (at least 1) of the bound on similar pairs; 0 means percentile 1 or bin 5; 0, or a number > 0 and < high; only with rule=percentiles|bins
    high : float, default 0
        percentile or bin of the bound on dissimilar pairs; 0 means percentile 99 or bin 95; 0, or a number > low and at most 100; only with rule=percentiles|bins
    upper : float, default 0
        largest squared distance wanted of similar pairs; 0 stands for none given; 0, or a number ≥ 1e-140 and < lower; only with rule=given
    lower : float, default 0
        smallest squared distance wanted of dissimilar pairs; 0 stands for none given; 0, or a number > upper and at most 1e+140; only with rule=given
    tol : float, default 0.001
        relative change of the multipliers over a cycle at which to stop; a finite number > 0
    cycles : int, default 0
        cap on cycles over the pairs; 0 means those of 100000 steps; an integer from 0 to 1000000000
    links : int, default 0
        pairs to draw; 0 means 40c(c-1) for c classes; an integer from 0 to 1000000000
    bound_pairs : int, default 1000
        pairs to draw for the bounds; an integer from 1 to 1000000000; only with rule=percentiles|bins
    seed : int, default 1
        origin of the draws; an integer ≥ 0
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "itml-labels"
    _own = ("slack", "gamma", "start", "ridge", "rule", "low", "high", "upper", "lower", "tol", "cycles", "links", "bound_pairs", "seed")

    def __init__(
        self,
        *,
        slack: Literal["soft", "hard"] = "soft",
        gamma: float = 1,
        start: Literal["identity", "invcov"] = "identity",
        ridge: float = 0,
        rule: Literal["percentiles", "bins", "given"] = "percentiles",
        low: float = 0,
        high: float = 0,
        upper: float = 0,
        lower: float = 0,
        tol: float = 0.001,
        cycles: int = 0,
        links: int = 0,
        bound_pairs: int = 1000,
        seed: int = 1,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.slack = slack
        self.gamma = gamma
        self.start = start
        self.ridge = ridge
        self.rule = rule
        self.low = low
        self.high = high
        self.upper = upper
        self.lower = lower
        self.tol = tol
        self.cycles = cycles
        self.links = links
        self.bound_pairs = bound_pairs
        self.seed = seed
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class ITMLTuned(_ClassLearner):
    """itml-labels with gamma of 0.0001, 0.001, ..., 10000 chosen by cross-validated nearest neighbours.

    Use it for: classes, when there is time to choose gamma by cross-validation: nine values, each fitted in every fold.
    Source: Davis, Kulis, Jain, Sra, Dhillon. Information-Theoretic Metric Learning. ICML 2007; Perez-Suay, Ferri 2013, Section 3.

    rule : Literal["percentiles", "bins", "given"], default "percentiles"
        bounds are percentiles of squared distances, centres of 100 equal bins between the least and the largest, or given as upper and lower
    low : float, default 0
        percentile or bin (at least 1) of the bound on similar pairs; 0 means percentile 1 or bin 5; 0, or a number > 0 and < high; only with rule=percentiles|bins
    high : float, default 0
        percentile or bin of the bound on dissimilar pairs; 0 means percentile 99 or bin 95; 0, or a number > low and at most 100; only with rule=percentiles|bins
    upper : float, default 0
        largest squared distance wanted of similar pairs; 0 stands for none given; 0, or a number ≥ 1e-140 and < lower; only with rule=given
    lower : float, default 0
        smallest squared distance wanted of dissimilar pairs; 0 stands for none given; 0, or a number > upper and at most 1e+140; only with rule=given
    tol : float, default 0.001
        relative change of the multipliers over a cycle at which to stop; a finite number > 0
    cycles : int, default 0
        cap on cycles over the pairs; 0 means those of 100000 steps; an integer from 0 to 1000000000
    links : int, default 0
        pairs to draw; 0 means 40c(c-1) for c classes; an integer from 0 to 1000000000
    bound_pairs : int, default 1000
        pairs to draw for the bounds; an integer from 1 to 1000000000; only with rule=percentiles|bins
    seed : int, default 1
        origin of the draws; an integer ≥ 0
    folds : int, default 2
        parts of the cross-validation; an integer from 2 to the number of rows
    k : int, default 4
        neighbours that vote in the cross-validation; an integer from 1 to the rows of the smallest training fold
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "itml-tuned"
    _own = ("rule", "low", "high", "upper", "lower", "tol", "cycles", "links", "bound_pairs", "seed", "folds", "k")

    def __init__(
        self,
        *,
        rule: Literal["percentiles", "bins", "given"] = "percentiles",
        low: float = 0,
        high: float = 0,
        upper: float = 0,
        lower: float = 0,
        tol: float = 0.001,
        cycles: int = 0,
        links: int = 0,
        bound_pairs: int = 1000,
        seed: int = 1,
        folds: int = 2,
        k: int = 4,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.rule = rule
        self.low = low
        self.high = high
        self.upper = upper
        self.lower = lower
        self.tol = tol
        self.cycles = cycles
        self.links = links
        self.bound_pairs = bound_pairs
        self.seed = seed
        self.folds = folds
        self.k = k
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class IPLR(_PairLearner):
    """identity plus low rank: itml in the span of k vectors made of the rows and their classes; for many features, and for sparse rows.

    Use it for: thousands of features or sparse rows, such as texts, where a full matrix does not fit.
    Source: Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Section 3.6.

    basis : Optional[Literal["classes", "random-classes", "singular", "kmeans", "rows", "coefficients"]], default None
        means of classes or, if k is more, centres of each class, if less, of the means; the means of k classes drawn; the top singular vectors; centres of clusters; rows drawn; combinations of rows drawn; the default is "classes", with labelled pairs of rows "singular"
    k : int, default 0
        vectors of the basis; 0 means as many as classes; 0, or an integer from 1 to the number of rows
    slack : Literal["soft", "hard"], default "soft"
        bounds may be exceeded at a price, or not at all
    gamma : float, default 1
        price of exceeding a bound; a finite number > 0; only with slack=soft
    infeasible : Literal["slack", "drop"], default "slack"
        similar pairs that no metric of the basis brings near enough: bounds with slack on the whole distance, or dropped, and bounds on the part in the basis
    rule : Literal["percentiles", "bins", "given"], default "percentiles"
        bounds are percentiles of squared distances, centres of 100 equal bins between the least and the largest, or given as upper and lower
    low : float, default 0
        percentile or bin (at least 1) of the bound on similar pairs; 0 means percentile 1 or bin 5; 0, or a number > 0 and < high; only with rule=percentiles|bins
    high : float, default 0
        percentile or bin of the bound on dissimilar pairs; 0 means percentile 99 or bin 95; 0, or a number > low and at most 100; only with rule=percentiles|bins
    upper : float, default 0
        largest squared distance wanted of similar pairs; 0 stands for none given; 0, or a number ≥ 1e-140 and < lower; only with rule=given
    lower : float, default 0
        smallest squared distance wanted of dissimilar pairs; 0 stands for none given; 0, or a number > upper and at most 1e+140; only with rule=given
    tol : float, default 0.001
        relative change of the multipliers over a cycle at which to stop; a finite number > 0
    cycles : int, default 0
        cap on cycles over the pairs; 0 means those of 2000000 steps; an integer from 0 to 1000000000
    links : int, default 100
        similar pairs to draw for each class, and as many dissimilar ones; an integer from 1 to 1000000000
    bound_pairs : int, default 1000
        pairs to draw for the bounds; an integer from 1 to 1000000000; only with rule=percentiles|bins
    seed : int, default 1
        origin of the draws; an integer ≥ 0
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    preprocessor : Optional[ArrayLike], default None
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "iplr"
    _own = ("basis", "k", "slack", "gamma", "infeasible", "rule", "low", "high", "upper", "lower", "tol", "cycles", "links", "bound_pairs", "seed")

    def __init__(
        self,
        *,
        basis: Optional[Literal["classes", "random-classes", "singular", "kmeans", "rows", "coefficients"]] = None,
        k: int = 0,
        slack: Literal["soft", "hard"] = "soft",
        gamma: float = 1,
        infeasible: Literal["slack", "drop"] = "slack",
        rule: Literal["percentiles", "bins", "given"] = "percentiles",
        low: float = 0,
        high: float = 0,
        upper: float = 0,
        lower: float = 0,
        tol: float = 0.001,
        cycles: int = 0,
        links: int = 100,
        bound_pairs: int = 1000,
        seed: int = 1,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        preprocessor: Optional[ArrayLike] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.basis = basis
        self.k = k
        self.slack = slack
        self.gamma = gamma
        self.infeasible = infeasible
        self.rule = rule
        self.low = low
        self.high = high
        self.upper = upper
        self.lower = lower
        self.tol = tol
        self.cycles = cycles
        self.links = links
        self.bound_pairs = bound_pairs
        self.seed = seed
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.preprocessor = preprocessor
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class PCA(_DataLearner):
    """principal component analysis: the directions of largest variance.

    Use it for: fewer dimensions without classes; it keeps variance, which need not be what separates classes.
    Source: Hotelling. Analysis of a complex of statistical variables into principal components. J. Educ. Psychol. 24, 1933.

    dim : int, default 0
        number of components; 0 means all; an integer from 0 to the smaller of the numbers of rows and columns
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "pca"
    _own = ("dim",)

    def __init__(
        self,
        *,
        dim: int = 0,
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.dim = dim
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class KernelPCA(_DataLearner):
    """pca between images under a kernel's feature map, and so for new points, which it embeds; it stores the rows that span the images.

    Use it for: what pca is for, where no linear map of the features is enough; time is cubic in the rows, unless landmarks bounds it.
    Source: Schölkopf, Smola, Müller. Nonlinear Component Analysis as a Kernel Eigenvalue Problem. Neural Computation 10, 1998.

    dim : int, default 2
        number of components; an integer from 1 to the number of dimensions that the images span
    centring : Literal["mean", "none"], default "mean"
        where components begin: at the mean of the images of the rows, or at the origin of the kernel's space
    kernel : Literal["gaussian", "linear", "polynomial"], default "gaussian"
        linear x·z, polynomial (x·z + offset)^degree, or gaussian exp(−kernel-gamma·‖x−z‖²)
    kernel_gamma : Union[float, Literal["1/dim"]], default "1/dim"
        width of the gaussian kernel, in 1/feature²; a finite number > 0, or 1/dim; only with kernel=gaussian
    degree : int, default 2
        degree of the polynomial kernel; an integer from 1 to 1000000; only with kernel=polynomial
    offset : float, default 1
        offset of the polynomial kernel; a finite number ≥ 0; only with kernel=polynomial
    landmarks : int, default 0
        approximation: the metric is learned in the span of so many rows, on which the others are projected, and only they are stored; 0 means exact; an integer from 0 to 1000000000
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "kernel-pca"
    _own = ("dim", "centring", "kernel", "kernel_gamma", "degree", "offset", "landmarks")

    def __init__(
        self,
        *,
        dim: int = 2,
        centring: Literal["mean", "none"] = "mean",
        kernel: Literal["gaussian", "linear", "polynomial"] = "gaussian",
        kernel_gamma: Union[float, Literal["1/dim"]] = "1/dim",
        degree: int = 2,
        offset: float = 1,
        landmarks: int = 0,
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.dim = dim
        self.centring = centring
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.degree = degree
        self.offset = offset
        self.landmarks = landmarks
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class LSA(_DataLearner):
    """latent semantic analysis: the right singular vectors of the rows, which are not centred.

    Use it for: texts and other sparse counts in fewer dimensions, without classes.
    Source: Deerwester, Dumais, Furnas, Landauer, Harshman. Indexing by Latent Semantic Analysis. J. Am. Soc. Inf. Sci. 41, 1990.

    dim : int, default 2
        number of components; an integer from 1 to the smaller of the numbers of rows and columns
    centring : Literal["none", "mean"], default "none"
        what is subtracted first: nothing, or the mean row, which makes it pca
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "lsa"
    _own = ("dim", "centring")

    def __init__(
        self,
        *,
        dim: int = 2,
        centring: Literal["none", "mean"] = "none",
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.dim = dim
        self.centring = centring
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class InvCov(_DataLearner):
    """inverse covariance of all rows, without regard to classes.

    Use it for: features that vary together, without classes and with many more rows than features.
    Source: Mahalanobis. On the generalised distance in statistics. Proc. Natl. Inst. Sci. India 2, 1936.

    ridge : float, default 0
        regularisation of the covariance, relative to the mean variance of a feature; 0 means the pseudo-inverse; a finite number ≥ 0
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "invcov"
    _own = ("ridge",)

    def __init__(
        self,
        *,
        ridge: float = 0,
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.ridge = ridge
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class FDA(_ClassLearner):
    """Fisher's discriminant analysis: the directions that separate class means best.

    Use it for: classes, as the first to try: it is fast, and the best linear map where classes are normal with one covariance.
    Source: Fisher. The use of multiple measurements in taxonomic problems. Ann. Eugen. 7, 1936; Rao, J. R. Stat. Soc. B 10, 1948.

    dim : int, default 0
        number of directions; 0 means all that separate class means; 0, or an integer from 1 to the number of classes minus one
    ridge : float, default 0
        regularisation, relative to the mean variance within classes; a finite number ≥ 0
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "fda"
    _own = ("dim", "ridge")

    def __init__(
        self,
        *,
        dim: int = 0,
        ridge: float = 0,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.dim = dim
        self.ridge = ridge
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class KernelFDA(_ClassLearner):
    """fda between images under a kernel's feature map, and so for new points, which it embeds; it stores the rows that span the images.

    Use it for: what fda is for, where no linear map of the features is enough; time is cubic in the rows, unless landmarks bounds it.
    Source: Mika, Rätsch, Weston, Schölkopf, Müller. Fisher Discriminant Analysis with Kernels. NNSP IX, 1999; Baudat, Anouar. Neural Computation 12, 2000.

    dim : int, default 0
        number of directions; 0 means all that separate class means; 0, or an integer from 1 to the number of classes minus one
    ridge : float, default 0.1
        regularisation, relative to the mean variance within classes, over the dimensions that the rows span; a finite number > 0
    kernel : Literal["gaussian", "linear", "polynomial"], default "gaussian"
        linear x·z, polynomial (x·z + offset)^degree, or gaussian exp(−kernel-gamma·‖x−z‖²)
    kernel_gamma : Union[float, Literal["1/dim"]], default "1/dim"
        width of the gaussian kernel, in 1/feature²; a finite number > 0, or 1/dim; only with kernel=gaussian
    degree : int, default 2
        degree of the polynomial kernel; an integer from 1 to 1000000; only with kernel=polynomial
    offset : float, default 1
        offset of the polynomial kernel; a finite number ≥ 0; only with kernel=polynomial
    landmarks : int, default 0
        approximation: the metric is learned in the span of so many rows, on which the others are projected, and only they are stored; 0 means exact; an integer from 0 to 1000000000
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "kernel-fda"
    _own = ("dim", "ridge", "kernel", "kernel_gamma", "degree", "offset", "landmarks")

    def __init__(
        self,
        *,
        dim: int = 0,
        ridge: float = 0.1,
        kernel: Literal["gaussian", "linear", "polynomial"] = "gaussian",
        kernel_gamma: Union[float, Literal["1/dim"]] = "1/dim",
        degree: int = 2,
        offset: float = 1,
        landmarks: int = 0,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.dim = dim
        self.ridge = ridge
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.degree = degree
        self.offset = offset
        self.landmarks = landmarks
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class LMNN(_ClassLearner):
    """large margin nearest neighbours: target neighbours near, rows of other classes a margin farther away.

    Use it for: classes and nearest neighbours, when fda is not enough: classes may be several clusters, since only near rows of a class count.
    Source: Weinberger, Saul. Distance Metric Learning for Large Margin Nearest Neighbor Classification. JMLR 10, 2009.

    k : int, default 3
        target neighbours of a row, or all others of its class if these are fewer; an integer from 1 to 1000000000
    mu : float, default 0.5
        weight of rows of other classes; target neighbours have 1 - mu; a number > 0 and < 1
    ridge : float, default 0
        weight of the trace of the matrix, relative to the mean variance of a feature; of a kernel, of a dimension that the rows span; a finite number ≥ 0
    tol : float, default 0.001
        duality gap at which to stop, relative to the objective; a finite number > 0
    iterations : int, default 2000
        cap on iterations; an integer from 1 to 1000000000
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "lmnn"
    _own = ("k", "mu", "ridge", "tol", "iterations")

    def __init__(
        self,
        *,
        k: int = 3,
        mu: float = 0.5,
        ridge: float = 0,
        tol: float = 0.001,
        iterations: int = 2000,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.k = k
        self.mu = mu
        self.ridge = ridge
        self.tol = tol
        self.iterations = iterations
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class KernelLMNN(_ClassLearner):
    """lmnn between images under a kernel's feature map, and so for new points, which it embeds; it stores the rows that span the images.

    Use it for: what lmnn is for, where no linear map of the features is enough; time is cubic in the rows, unless landmarks bounds it.
    Source: Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Theorem 9; Weinberger, Saul 2009.

    k : int, default 3
        target neighbours of a row, or all others of its class if these are fewer; an integer from 1 to 1000000000
    mu : float, default 0.5
        weight of rows of other classes; target neighbours have 1 - mu; a number > 0 and < 1
    ridge : float, default 0
        weight of the trace of the matrix, relative to the mean variance of a feature; of a kernel, of a dimension that the rows span; a finite number ≥ 0
    tol : float, default 0.001
        duality gap at which to stop, relative to the objective; a finite number > 0
    iterations : int, default 2000
        cap on iterations; an integer from 1 to 1000000000
    kernel : Literal["gaussian", "linear", "polynomial"], default "gaussian"
        linear x·z, polynomial (x·z + offset)^degree, or gaussian exp(−kernel-gamma·‖x−z‖²)
    kernel_gamma : Union[float, Literal["1/dim"]], default "1/dim"
        width of the gaussian kernel, in 1/feature²; a finite number > 0, or 1/dim; only with kernel=gaussian
    degree : int, default 2
        degree of the polynomial kernel; an integer from 1 to 1000000; only with kernel=polynomial
    offset : float, default 1
        offset of the polynomial kernel; a finite number ≥ 0; only with kernel=polynomial
    landmarks : int, default 0
        approximation: the metric is learned in the span of so many rows, on which the others are projected, and only they are stored; 0 means exact; an integer from 0 to 1000000000
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "kernel-lmnn"
    _own = ("k", "mu", "ridge", "tol", "iterations", "kernel", "kernel_gamma", "degree", "offset", "landmarks")

    def __init__(
        self,
        *,
        k: int = 3,
        mu: float = 0.5,
        ridge: float = 0,
        tol: float = 0.001,
        iterations: int = 2000,
        kernel: Literal["gaussian", "linear", "polynomial"] = "gaussian",
        kernel_gamma: Union[float, Literal["1/dim"]] = "1/dim",
        degree: int = 2,
        offset: float = 1,
        landmarks: int = 0,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.k = k
        self.mu = mu
        self.ridge = ridge
        self.tol = tol
        self.iterations = iterations
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.degree = degree
        self.offset = offset
        self.landmarks = landmarks
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class MCML(_ClassLearner):
    """maximally collapsing metric learning: the rows of a class as likely neighbours of each other as can be.

    Use it for: classes that are single clouds, of up to a few thousand rows; it is convex and says how near its optimum is.
    Source: Globerson, Roweis. Metric Learning by Collapsing Classes. NIPS 18, 2005.

    ridge : float, default 0
        weight of the trace of the matrix, relative to the mean variance of a feature; of a kernel, of a dimension that the rows span; a finite number ≥ 0
    tol : float, default 0.001
        distance from the minimum at which to stop, in nats per row; a finite number > 0
    iterations : int, default 1000
        cap on iterations; an integer from 1 to 1000000000
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "mcml"
    _own = ("ridge", "tol", "iterations")

    def __init__(
        self,
        *,
        ridge: float = 0,
        tol: float = 0.001,
        iterations: int = 1000,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.ridge = ridge
        self.tol = tol
        self.iterations = iterations
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class KernelMCML(_ClassLearner):
    """mcml between images under a kernel's feature map, and so for new points, which it embeds; it stores the rows that span the images.

    Use it for: what mcml is for, where no linear map of the features is enough; time is cubic in the rows, unless landmarks bounds it.
    Source: Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Theorem 9; Globerson, Roweis 2005.

    ridge : float, default 0
        weight of the trace of the matrix, relative to the mean variance of a feature; of a kernel, of a dimension that the rows span; a finite number ≥ 0
    tol : float, default 0.001
        distance from the minimum at which to stop, in nats per row; a finite number > 0
    iterations : int, default 1000
        cap on iterations; an integer from 1 to 1000000000
    kernel : Literal["gaussian", "linear", "polynomial"], default "gaussian"
        linear x·z, polynomial (x·z + offset)^degree, or gaussian exp(−kernel-gamma·‖x−z‖²)
    kernel_gamma : Union[float, Literal["1/dim"]], default "1/dim"
        width of the gaussian kernel, in 1/feature²; a finite number > 0, or 1/dim; only with kernel=gaussian
    degree : int, default 2
        degree of the polynomial kernel; an integer from 1 to 1000000; only with kernel=polynomial
    offset : float, default 1
        offset of the polynomial kernel; a finite number ≥ 0; only with kernel=polynomial
    landmarks : int, default 0
        approximation: the metric is learned in the span of so many rows, on which the others are projected, and only they are stored; 0 means exact; an integer from 0 to 1000000000
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "kernel-mcml"
    _own = ("ridge", "tol", "iterations", "kernel", "kernel_gamma", "degree", "offset", "landmarks")

    def __init__(
        self,
        *,
        ridge: float = 0,
        tol: float = 0.001,
        iterations: int = 1000,
        kernel: Literal["gaussian", "linear", "polynomial"] = "gaussian",
        kernel_gamma: Union[float, Literal["1/dim"]] = "1/dim",
        degree: int = 2,
        offset: float = 1,
        landmarks: int = 0,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.ridge = ridge
        self.tol = tol
        self.iterations = iterations
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.degree = degree
        self.offset = offset
        self.landmarks = landmarks
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class NCA(_ClassLearner):
    """neighbourhood components analysis: a stochastic neighbour of a row as likely of its class as can be, in few dimensions or all; not convex.

    Use it for: few dimensions that serve nearest neighbours, to search or to draw in (dim=2); with about as many dimensions as rows it learns these by heart.
    Source: Goldberger, Roweis, Hinton, Salakhutdinov. Neighbourhood Components Analysis. NIPS 17, 2004.

    dim : int, default 0
        largest rank of the matrix; 0 means the number of features, or of rows if these are fewer; an integer from 0 to the smaller of the numbers of rows and columns
    start : Literal["fda", "pca"], default "fda"
        where to begin: variance 1 within classes, in the directions in which rows then vary most, or the principal components, all of which are the Euclidean distance
    tol : float, default 0.0001
        length of the gradient at which to stop, times that of L, per row; a finite number > 0
    iterations : int, default 500
        cap on iterations, if batch=0; an integer from 1 to 1000000000
    batch : int, default 0
        rows of a stochastic step; 0 means all rows, and steps of L-BFGS; an integer from 0 to 1000000000
    passes : int, default 10
        passes over the rows, if batch is not 0; an integer from 1 to 1000000000
    seed : int, default 1
        origin of the draws; an integer ≥ 0
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "nca"
    _own = ("dim", "start", "tol", "iterations", "batch", "passes", "seed")

    def __init__(
        self,
        *,
        dim: int = 0,
        start: Literal["fda", "pca"] = "fda",
        tol: float = 0.0001,
        iterations: int = 500,
        batch: int = 0,
        passes: int = 10,
        seed: int = 1,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.dim = dim
        self.start = start
        self.tol = tol
        self.iterations = iterations
        self.batch = batch
        self.passes = passes
        self.seed = seed
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class TraceSSIKDR(_PairLearner):
    """Trace-SSIKDR: pairs near or far in few dimensions of a kernel's space, and so for new points, which it embeds; it stores the rows that pairs join.

    Use it for: pairs near or far that are to be seen in two or three dimensions of a kernel's space.
    Source: Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Section 5.4 and Algorithm 2.

    tau : float, default 1
        weight of the trace: the larger, the lower the rank; a finite number ≥ 0
    slack : Literal["l2", "l1", "hard"], default "l2"
        cost of violating a constraint by s: c s²/2 (l2), c s (l1), not allowed (hard)
    c : float, default 1
        weight of slack; a finite number > 0; only with slack=l2|l1
    method : Literal["convex", "direct"], default "convex"
        the convex problem, whose leading directions are kept, or W = BB' of that rank itself, which is not convex: the best of several starts
    rank : int, default 0
        largest number of dimensions; 0 means all of the convex problem; an integer from 0 to 1000000000
    starts : int, default 10
        random starts, of which the one of least objective counts; an integer from 1 to 1000000000; only with method=direct
    seed : int, default 1
        origin of the draws; an integer ≥ 0; only with method=direct
    tol : float, default 1e-05
        KKT residual at which to stop, relative to the size of a constraint; a finite number > 0
    iterations : int, default 20000
        cap on steps, of each start; an integer from 1 to 1000000000
    rule : Literal["percentiles", "bins", "given"], default "percentiles"
        bounds are percentiles of squared distances, centres of 100 equal bins between the least and the largest, or given as upper and lower
    low : float, default 0
        percentile or bin (at least 1) of the bound on similar pairs; 0 means percentile 1 or bin 5; 0, or a number > 0 and < high; only with rule=percentiles|bins
    high : float, default 0
        percentile or bin of the bound on dissimilar pairs; 0 means percentile 99 or bin 95; 0, or a number > low and at most 100; only with rule=percentiles|bins
    upper : float, default 0
        largest squared distance wanted of similar pairs; 0 stands for none given; 0, or a number ≥ 1e-140 and < lower; only with rule=given
    lower : float, default 0
        smallest squared distance wanted of dissimilar pairs; 0 stands for none given; 0, or a number > upper and at most 1e+140; only with rule=given
    kernel : Literal["gaussian", "linear", "polynomial"], default "gaussian"
        linear x·z, polynomial (x·z + offset)^degree, or gaussian exp(−kernel-gamma·‖x−z‖²)
    kernel_gamma : Union[float, Literal["1/dim"]], default "1/dim"
        width of the gaussian kernel, in 1/feature²; a finite number > 0, or 1/dim; only with kernel=gaussian
    degree : int, default 2
        degree of the polynomial kernel; an integer from 1 to 1000000; only with kernel=polynomial
    offset : float, default 1
        offset of the polynomial kernel; a finite number ≥ 0; only with kernel=polynomial
    n_constraints : Optional[int], default None
        pairs that are drawn from classes, half of them similar; None means 1000
    random_state : Optional[int], default None
        origin of these draws, from 0, which None means; --seed of metriclab is one more
    n_neighbors : int, default 3
        
    standardise : bool, default True
        
    impute : bool, default False
        
    preprocessor : Optional[ArrayLike], default None
        
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "trace-ssikdr"
    _own = ("tau", "slack", "c", "method", "rank", "starts", "seed", "tol", "iterations", "rule", "low", "high", "upper", "lower", "kernel", "kernel_gamma", "degree", "offset")
    _table = True

    def __init__(
        self,
        *,
        tau: float = 1,
        slack: Literal["l2", "l1", "hard"] = "l2",
        c: float = 1,
        method: Literal["convex", "direct"] = "convex",
        rank: int = 0,
        starts: int = 10,
        seed: int = 1,
        tol: float = 1e-05,
        iterations: int = 20000,
        rule: Literal["percentiles", "bins", "given"] = "percentiles",
        low: float = 0,
        high: float = 0,
        upper: float = 0,
        lower: float = 0,
        kernel: Literal["gaussian", "linear", "polynomial"] = "gaussian",
        kernel_gamma: Union[float, Literal["1/dim"]] = "1/dim",
        degree: int = 2,
        offset: float = 1,
        n_constraints: Optional[int] = None,
        random_state: Optional[int] = None,
        n_neighbors: int = 3,
        standardise: bool = True,
        impute: bool = False,
        preprocessor: Optional[ArrayLike] = None,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.tau = tau
        self.slack = slack
        self.c = c
        self.method = method
        self.rank = rank
        self.starts = starts
        self.seed = seed
        self.tol = tol
        self.iterations = iterations
        self.rule = rule
        self.low = low
        self.high = high
        self.upper = upper
        self.lower = lower
        self.kernel = kernel
        self.kernel_gamma = kernel_gamma
        self.degree = degree
        self.offset = offset
        self.n_constraints = n_constraints
        self.random_state = random_state
        self.n_neighbors = n_neighbors
        self.standardise = standardise
        self.impute = impute
        self.preprocessor = preprocessor
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command


class Spectral(_Constrained):
    """a kernel close to a given one under constraints on squared distances and the trace; for fit --gram.

    Use it for: a kernel of objects at hand and constraints on distances in it, when the divergence is to be chosen.
    Source: Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Sections 4 and 5.

    divergence : Literal["logdet", "von-neumann", "frobenius", "trace"], default "logdet"
        function of the eigenvalues x of W that is least: x - log x - 1 (logdet), x log x - x + 1 (von-neumann), (x - alpha)²/2 (frobenius), tau x + x²/2 (trace)
    alpha : float, default 1
        value that the eigenvalues are near to; a finite number ≥ 0; only with divergence=frobenius
    tau : float, default 1
        weight of the trace, which makes the rank low; a finite number ≥ 0; only with divergence=trace
    slack : Literal["hard", "l1", "l2"], default "hard"
        cost of violating a constraint by s: not allowed (hard), c s (l1), c s²/2 (l2)
    c : float, default 1
        weight of slack; a finite number > 0; only with slack=l1|l2
    tol : float, default 1e-08
        KKT residual at which to stop, relative to the size of a constraint; a finite number > 0
    iterations : int, default 1000
        cap on Newton steps; an integer from 1 to 1000000000
    n_jobs : Optional[int], default None
        
    verbose : bool, default False
        
    max_memory : Optional[str], default None
        
    command : Optional[str], default None
        
    """

    _learner = "spectral"
    _own = ("divergence", "alpha", "tau", "slack", "c", "tol", "iterations")

    def __init__(
        self,
        *,
        divergence: Literal["logdet", "von-neumann", "frobenius", "trace"] = "logdet",
        alpha: float = 1,
        tau: float = 1,
        slack: Literal["hard", "l1", "l2"] = "hard",
        c: float = 1,
        tol: float = 1e-08,
        iterations: int = 1000,
        n_jobs: Optional[int] = None,
        verbose: bool = False,
        max_memory: Optional[str] = None,
        command: Optional[str] = None,
    ):
        self.divergence = divergence
        self.alpha = alpha
        self.tau = tau
        self.slack = slack
        self.c = c
        self.tol = tol
        self.iterations = iterations
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.command = command
