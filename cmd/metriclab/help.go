package main

// aboutTables says how the commands on a user's table read it.
const aboutTables = `The table is a CSV file: a row per object, a column with the class, all other
columns numbers. Cells are separated by commas, semicolons, tabs or bars, and numbers
have decimal points or, where commas separate nothing, decimal commas. Which it is is
found in the first rows, and said if it is not the usual; --separator and --decimal-comma
decide. The other mark may group thousands, as in 1.250,5 or 1,250.5. Where only cells
such as 1.250 and 563 could tell, the file is refused: --decimal-comma reads 1250 and 563,
--decimal-comma=false 1.25 and 563. A file that gzip has compressed is read as it was
before, UTF-16 with its mark (Excel's "Unicode text") as UTF-8; - is standard input.

  metriclab fit wine.csv.gz --label class --learner rca --out m.json
  unzip -p wine.zip | metriclab fit - --label class --learner rca --out m.json

A column of words is an error: --one-hot makes a feature of each of its values in the
training rows, 1 in rows that have it. A value that only new rows have gives 0 in all of
them, and is counted. --drop leaves a column out. A column without a name in the header
that has another whole number in each row, as pandas and R write it, must be dropped, or
kept by --keep. metriclab look tells all that is odd about a table. All cells that are no
numbers are named in one error. A .npy table (float64, float32, integers, booleans) has
features alone; --labels gives the classes, CSV or .npy. Whole numbers beyond 2^53 that no
float64 is are refused as features and kept as labels. Parquet is not read: duckdb -c
"COPY 'x.parquet' TO 'x.csv'" makes CSV of it.

Columns are given by name or by number from 1. --no-header says that the first row is
data. With --header auto the first row is a header if --label or --drop give a
name, or if none of its other cells is a number. A cell that is missing (empty,
or one of --missing) or no finite number is an error with line and column; --impute mean
fills missing cells with the mean of the column over the training rows. A class is never
filled in. Labels that look like measurements are refused: classes are needed. Cells become
numbers as they are read: a cell takes 8 bytes, a class 16 and the text of each
class. A table that takes more than --max-memory, or a row of text that takes more
than a sixteenth of that, is an error: so a pipe or /dev/stdin without an end is
one, too. Rows of a regular file are counted first; from a pipe the table takes
twice its memory for a moment. A fit that takes more than --max-memory by a rough
estimate is refused before it starts, and one that takes long is told of.

pca, lsa and other learners of the rows alone fit tables without classes: leave out
--label, and --drop columns that are no features. Classes are names; to learn from a
number to predict (regression) is out of scope.

Unless --no-standardise is given, each feature has its mean subtracted and is
divided by its standard deviation, both over the training rows; a constant feature
is divided by 1.

` + aboutSVMLight

// aboutPairs is the part of fit's help on pairs that are known.
const aboutPairs = `Pairs that you know: with --pairs FILE or --chunklets COLUMN a learner of pairs draws
none by classes, and --label may be missing. A --label that is there is no feature.

--pairs takes a file of labelled pairs of rows, three cells each: i, j and label, 1 or
true for rows that are alike and -1, 0 or false for rows that are not. Rows count from
0, without the header. The cells are separated by commas, semicolons, tabs, bars or
blanks. A header may name the columns in another order, among others; a, b, left,
right, item1, item2, similar, same and match are known, too, and --columns i=3,j=4,label=7
says by name or number which they are. JSON lines {"i":0,"j":5,"label":-1} and .npy
arrays of three columns do as well; - is standard input. Online learners take the pairs
in the order of the file.

--chunklets takes a column of the table: rows with equal cells are known to be alike,
such as pictures of one person, and nothing is known of a row with a missing cell.
rca and kernel-rca learn from that. Other learners of pairs take all pairs of rows of
one chunklet as similar and, since they would bring everything together otherwise, as
many pairs drawn from different chunklets as dissimilar. If two chunklets may be the
same thing, --dissimilar none leaves these out.

  metriclab fit faces.csv --pairs answers.csv --learner pola --out faces.json
  metriclab fit faces.csv --drop id --chunklets person --learner rca --out faces.json`

// aboutVectors is the part of fit's help on vectors.
const aboutVectors = `Vectors that you have: --vectors takes a .npy file of float64, float32 or float16, a vector
per row, such as embeddings of texts or pictures, in place of a table, and --pairs the file
of pairs that people found alike (1) or not (-1), by row from 0 or, with --ids, by id.
--ids has an id per line, in the order of the rows. Only vectors that pairs name are
read. Of these pola, pa, lego and itml keep 64 MB, and up to 128 MB of their learned
coordinates, and read the others anew for each pair; rca, iplr, pola-batch, itml with
start=invcov and what learns from --triplets keep all, at 8 bytes a number, up to
--max-memory. All are multiplied by one number, such that the mean squared distance of
the pairs is 5; --no-standardise leaves them as they are. With --unit each is divided by
its length first, as cosine similarity does; vectors of zeros, which have no direction,
are left out and counted, and transform refuses them. --rank k keeps the k directions of
the metric with the largest eigenvalues, and prints the share of the trace that is lost.

In place of pairs, --triplets takes comparisons "a is more like near than like far".

  metriclab fit --vectors X.npy --pairs feedback.csv --learner itml --out m.json
  metriclab transform --model m.json --vectors X.npy --npy Y.npy

Euclidean distances of the rows of Y.npy are the learned ones: any index of vectors
takes them as they are.`

// aboutVectorSplits is the part of evaluate's help on vectors.
const aboutVectorSplits = `With --vectors and --pairs (see metriclab help vectors) each of --repeats splits holds out
a share of the items that pairs name. The metric is learned from pairs of two other
items, and scored by pairs of two held-out ones; pairs across are dropped and counted.
It prints, beside Euclidean and cosine: the AUC, how often a similar pair is nearer than
a dissimilar one; the error, the share of pairs on the wrong side of the threshold that
is best on the training pairs; and the recall at --k (one number, by default 10): of the
held-out items similar to one, the share among its k nearest held-out items.

  metriclab evaluate --vectors X.npy --pairs feedback.csv --learner itml --unit

With --triplets it prints the share of comparisons of three held-out items that each
distance contradicts.`

// aboutGram is the part of fit's help on similarities.
const aboutGram = `Similarities without vectors: --gram takes the kernel matrix K0 of n objects in place
of a table, n rows of n numbers without a header (or a .npy file), symmetric and
positive semi-definite. --constraints has a line of JSON each, with squared distances
d(i,j) = K_ii - 2 K_ij + K_jj of the learned kernel K and objects counted from 0:

  {"i":0,"j":1,"at_most":1.2}             d(0,1) <= 1.2
  {"i":0,"j":5,"at_least":4}              d(0,5) >= 4
  {"i":0,"j":4,"exactly":2}               d(0,4) = 2
  {"a":0,"near":2,"far":6,"margin":0.2}   d(0,2) + 0.2 <= d(0,6)
  {"trace_at_most":9}                     tr K <= 9

The learner spectral finds K = Φ'WΦ, K0 = Φ'Φ, of least Σφ(eigenvalues of W) + slack. It
prints the objective, the rank of K, the KKT residual, the duality gap and how many
constraints are violated, with the first twenty of them. If no kernel satisfies the constraints, it names the lines that
contradict each other, with the weights of a dual certificate, writes nothing and ends
with exit code 1. The learner trace-ssikdr finds K of low rank, and its coordinates: W of
least tau tr W + ‖W‖²/2 + slack. See also: metriclab transform --cross-gram.

` + aboutGramLabels

// aboutGramLabels is the part of fit's and evaluate's help on similarities with labels.
const aboutGramLabels = `With --gram, --labels takes the classes of the objects, in the order of the rows of
K0: a CSV file with the label of an object in each row, or an id and the label. A file
with one row more than objects has a header. Ids must differ and, if all are whole
numbers, ascend. Learners that take K0 and labels are those of tables that learn in
the space of a kernel, without the parameters that name one.`

// aboutTriplets is the part of fit's and evaluate's help on relative comparisons.
const aboutTriplets = `Objects without vectors: --triplets takes comparisons "a is more like near than like far"
in place of a table, three cells each: a, near, far. Forms are those of a file of pairs.
A header may name the columns in another order, among others: anchor, positive and
negative; head, winner and loser, as in Salmon's responses.csv; and response, which
exchanges near and far where it is -1, 0 or false, as in cblearn. A first row that is
neither known as a header nor names objects of later rows is an error: --columns
a=head,near=winner,far=loser says by name or number what it is, --no-header that it is
data. Objects are numbers from 0, or names if a cell is no whole number; 1 and 1.0 are
one. --objects says how many numbers there are. The .npy arrays of cblearn have this
form, and a fourth column of responses. Answers about three objects are two comparisons
each: columns odd, a and b say which is the odd one out ("a is nearer to b than to it",
and so is b to a), central, a and b which is the most central ("a is nearer to it than to
b", and so is b). Without a header --columns odd=1,a=2,b=3 says so. MAT-files such as that of the music set, and
JSON with votes such as that of the material set, are read as well. Comparisons
whose objects are not distinct, and tied votes, are dropped and counted.`

// aboutFitTriplets is the part of fit's help on what it makes of them.
const aboutFitTriplets = `fit --triplets learns a kernel of the objects that occur, with --dim D as many
coordinates: gnmds, ste, ckl, tste and soe are fitted in them directly, from several
starts, while a kernel that is cut to D dimensions, as that of erkle, keeps fewer of the
comparisons. tste and soe have coordinates alone, by default two. --param dim=auto chooses
how many by held-out questions. --out is the file of the model. --coordinates, .csv or
.npy, is that of the coordinates of each object, by default two; the CSV file has the name
or number of the object first, as it is. --guard-formulas writes ' before one that a
spreadsheet would run. metriclab plot --model shows the objects, pale those that few
comparisons name. There is no map for new ones.

  metriclab fit --triplets answers.csv --learner tste --dim 2 --out map.json
  metriclab plot --model map.json --out map.png
  metriclab fit --triplets answers.csv --learner ste --dim 2 --coordinates z.csv
  metriclab evaluate --triplets answers.csv --learner ste`

// aboutModels is what the verbs on a fitted model have in common.
const aboutModels = `What each verb takes, beside --model:

                predict                  neighbours             transform, plot
  a table       NEW.csv --train TABLE    NEW.csv --train TABLE  DATA.csv
  vectors       --vectors, --train,      --vectors, --queries   --vectors
                --labels                 or --rows
  a Gram matrix --cross-gram, --labels   --cross-gram           --cross-gram
  comparisons   (no map for new ones)    nothing                nothing

--vectors takes the model of fit --vectors, a saved metric, or a learner of pairs that
metriclab learn has saved.

A model holds the metric and how rows are prepared, not the training rows: --train gives
their table again. It is read with the columns of the model; other rows than those of the
fit do as well, with a note if their classes are others. With a header, columns are found
by name, and others are left out with a note; without one, a table has the columns of the
training table, or the features alone. Classes are left out if none is there; some alone
are an error. The search is exact, under every learner, those of kernels too.

New rows may be any number: they are read in blocks, and memory does not grow with them;
the training rows are held. Rows of svmlight (see metriclab help tables) and .npy tables
are all read first; files of --vectors are not. Of a .npy table, --labels has the classes.
A file of an answer gets its name once every row is right: after an error or an interrupt
the old file, or none, is there. For standard output transform reads a table in a regular
file twice, first to check every row. Otherwise text goes out after 4 MB as it comes, and
the exit code tells of an error behind it.

--json writes {"schema":1,"columns":[...],"rows":[[...],...],"notes":[...]}, with the
numbers of the CSV, k, and of predict, if the new rows have classes: judged, the rows with a
class of the training rows; wrong, those of them predicted wrongly; apart, the others. With
--probabilities there is calibration: (share + shift)^power is in proportion to the
probability of a class with that share of the votes; rows were held out for it, in folds, of
which there are none where each was left out of its own neighbours.

Each verb says how long it will take, where that is long, and on a terminal asks before it
takes hours.

The coordinates of a kernel learner are G k(x) + c, from kernel values with the rows that
the model stores; c is 0 but for kernel-pca and kernel-fda, whose scores are about the
mean. The metric of iplr differs from the Euclidean one in a subspace of k dimensions
alone. transform --subspace writes the k coordinates there, z1 to zk, and then a column
"outside": the length of the rest of the row, which is not among them. The squared
distance of two rows is that of their z and between the squares of the difference and of
the sum of the two lengths. Without --subspace distances are exact.

--cross-gram has a row per object: its kernel values with the n objects of fit --gram.
transform writes coordinates whose inner products are the learned kernel,
K(x,z) = α k(x,z) + k(x)'S k(z), of the parts of the objects in the span of these n. The
matrix K0 of the fit as --cross-gram gives the n objects themselves, with all learned
kernel values and distances. Between a new object and these, kernel values are exact, and
squared distances lack one number that is the same for all n, so that the order of
neighbours is right. What lies outside the span is lacking among new objects, if α is not
0; --self-gram brings it. Of fit --gram --labels and a learner that embeds, such as
kernel-lmnn or kernel-pca, coordinates are the learner's, and nothing is lacking.

A spreadsheet runs a cell that begins with = + - or @, a tab or a carriage return as a
formula, also when it opens a CSV file. --guard-formulas writes ' before such a class or
name: it is then text, and ' is part of it for whoever reads the file again. Numbers, such
as -1, stay as they are.`

// aboutSVMLight says how the commands on a user's table read sparse rows.
const aboutSVMLight = `A file that ends in .svm, .svmlight or .libsvm, or is read with --format svmlight,
has sparse rows: "class index:value index:value ...", a row per object, indices
ascending from 1 (from 0 with --format svmlight-0), # before a comment. The class
is a number; features have their numbers as names. An entry takes 16 bytes. With
--no-standardise, iplr takes such rows as they are; for other learners, or to
standardise features, the table is made dense if --max-memory allows.`
