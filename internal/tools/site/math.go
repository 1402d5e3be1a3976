package main

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Why not a library: treeblood v0.1.16, the module of Go for this that is alive, gives an error element for 14 of the 756 formulas of the
// notebooks (\frac12, \operatorname, \tag, \brace), and takes a command that it does not know for a name.

// The commands of TeX that are a symbol. A command that is in no table is an error, so that no page shows a raw one.
var (
	identifiers = symbols(`alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ
		pi π rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω ell ℓ imath ı jmath ȷ`)
	upright = symbols(`Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω infty ∞ top ⊤ bot ⊥ partial ∂ nabla ∇ emptyset ∅
		blacksquare ■ square □ Re ℜ Im ℑ aleph ℵ hbar ℏ prime ′ checkmark ✓ % % # # $ $ _ _ & &`)
	operators = symbols(`cdot ⋅ times × pm ± mp ∓ star ⋆ ast ∗ circ ∘ bullet • div ÷ cup ∪ cap ∩ setminus ∖ oplus ⊕ ominus ⊖ otimes ⊗ odot ⊙ wedge ∧ land ∧ vee ∨ lor ∨ neg ¬
		forall ∀ exists ∃ angle ∠ perp ⊥ dots … ldots … cdots ⋯ vdots ⋮ ddots ⋱ colon : int ∫`)
	relations = symbols(`le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ ll ≪ gg ≫ equiv ≡ approx ≈ sim ∼ simeq ≃ cong ≅ propto ∝ succ ≻ succeq ⪰ prec ≺ preceq ⪯ in ∈ notin ∉ ni ∋
		subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ mid ∣ parallel ∥ to → rightarrow → leftarrow ← gets ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔
		implies ⟹ iff ⟺ mapsto ↦ longrightarrow ⟶ longleftarrow ⟵ downarrow ↓ uparrow ↑ coloneqq ≔ triangleq ≜`)
	large      = symbols(`sum ∑ prod ∏ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigvee ⋁ bigwedge ⋀`)
	delimiters = symbols(`{ { } } | ‖ langle ⟨ rangle ⟩ lVert ‖ rVert ‖ lvert | rvert | Vert ‖ vert | lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lbrace { rbrace } lbrack [ rbrack ]`)
	spaces     = symbols(`quad 1em qquad 2em , .1667em : .2222em > .2222em ; .2778em ! -.1667em`)
	accents    = symbols(`hat ^ widehat ^ tilde ~ widetilde ~ bar ¯ overline ‾ vec → dot ˙ ddot ¨ check ˇ`)
	functions  = strings.Fields("log ln exp det tr dim ker deg arg sin cos tan tanh sinh cosh arctan gcd")
	limits     = strings.Fields("max min sup inf lim limsup liminf argmax argmin Pr")
	sizes      = symbols(`big 1.2em Big 1.8em bigg 2.4em Bigg 3em`)
	number     = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+)?`)
	alphabets  = map[string]struct {
		upper, lower, digit rune
		odd                 string // letters that Unicode has elsewhere, each before its place
	}{
		`\mathbf`:  {'𝐀', '𝐚', '𝟎', ""},
		`\mathcal`: {'𝒜', 0, 0, "BℬEℰFℱHℋIℐLℒMℳRℛ"},
		`\mathbb`:  {'𝔸', '𝕒', '𝟘', "CℂHℍNℕPℙQℚRℝZℤ"},
	}
	environments = map[string][2]string{"matrix": {}, "pmatrix": {"(", ")"}, "bmatrix": {"[", "]"}, "vmatrix": {"|", "|"}, "cases": {"{", ""}, "aligned": {}}
)

// symbols reads names, each followed by what stands for it.
func symbols(list string) map[string]string {
	out, words := map[string]string{}, strings.Fields(list)
	for i := 0; i < len(words); i += 2 {
		out[`\`+words[i]] = words[i+1]
	}
	return out
}

// mathML translates a formula of TeX. An inline formula that is long becomes several elements, between which a line may break:
// after a relation or a comma, as TeX breaks.
func mathML(tex string, display bool) (string, error) {
	p := &formula{rest: tex, breaks: !display && len(tex) > 30}
	body, err := p.row("")
	if err != nil {
		return "", fmt.Errorf("%w, in $%s$", err, tex)
	}
	if display {
		return `<math display="block">` + body + `</math>`, nil
	}
	return "<math>" + strings.ReplaceAll(body, breakHere, "</math><wbr><math>") + "</math>", nil
}

const breakHere = "\x00"

// formula is a formula of TeX of which the rest is to be read.
type formula struct {
	rest   string
	breaks bool // marks where a line may break; within no group
}

// next takes a token: a command, or a character; "" at the end. Blanks are skipped.
func (p *formula) next() string {
	p.rest = strings.TrimLeft(p.rest, " \t\n")
	n := 0
	for i, r := range p.rest {
		switch letter := unicode.IsLetter(r); {
		case i == 0, i == 1 && p.rest[0] == '\\':
			n = i + len(string(r))
			if i == 0 && r != '\\' || i == 1 && !letter {
				return p.take(n)
			}
		case letter:
			n = i + len(string(r))
		default:
			return p.take(n)
		}
	}
	return p.take(n)
}

func (p *formula) take(n int) (t string) {
	t, p.rest = p.rest[:n], p.rest[n:]
	return t
}

func (p *formula) peek() string { q := *p; return q.next() }

// row reads up to one of ends, which it takes, and returns one element.
func (p *formula) row(ends ...string) (string, error) {
	var out []string
	operand, tag, breaks := false, "", p.breaks
	for {
		t := p.peek()
		switch {
		case slices.Contains(ends, t):
			p.next()
			if tag != "" {
				out = append(out, space("2em"), "<mtext>("+tag+")</mtext>")
			}
			if breaks { // the parts are rows of elements of their own
				return strings.Join(out, ""), nil
			}
			return group(out), nil
		case t == "" || t == "}" || t == "&" || t == `\\` || t == `\right` || t == `\end`:
			return "", fmt.Errorf("%q where %q should be", t, ends)
		case t == `\tag`:
			p.next()
			tag = html.EscapeString(p.raw())
			continue
		case t == `\brace` || t == `\choose`:
			p.next()
			p.breaks = false
			below, err := p.row(ends...)
			pair := map[string]string{`\brace`: "{}", `\choose`: "()"}[t]
			return stacked(pair, strings.ReplaceAll(group(out), breakHere, ""), below), err
		case spaces[t] != "" || t == `\ ` || t == "~":
			p.next()
			if w := spaces[t]; w != "" {
				out = append(out, space(w))
			} else {
				out = append(out, space(".25em"))
			}
			continue
		}
		p.breaks = false
		a, err := p.scripted(operand, out)
		if err != nil {
			return "", err
		}
		p.breaks = breaks
		out, operand = append(out, a.s), a.operand
		if breaks && (a.relation || t == ",") {
			out = append(out, breakHere)
		}
	}
}

func space(width string) string { return `<mspace width="` + width + `"></mspace>` }

func group(out []string) string {
	if len(out) == 1 {
		return out[0]
	}
	return "<mrow>" + strings.Join(out, "") + "</mrow>"
}

func stacked(pair, above, below string) string {
	return "<mrow><mo>" + pair[:1] + `</mo><mfrac linethickness="0">` + above + below + "</mfrac><mo>" + pair[1:] + "</mo></mrow>"
}

// atom is one element.
type atom struct {
	s        string
	operand  bool // a sign that follows it is between two
	relation bool
	function bool // blanks stand around it
	movable  bool // scripts go below and above
}

func mi(s string) atom {
	return atom{s: "<mi>" + html.EscapeString(s) + "</mi>", operand: true}
}

func normal(s string) atom {
	if len([]rune(s)) > 1 { // which is upright anyway
		return mi(s)
	}
	return atom{s: `<mi mathvariant="normal">` + html.EscapeString(s) + "</mi>", operand: true}
}

func mo(s, attributes string) atom {
	return atom{s: "<mo" + attributes + ">" + html.EscapeString(s) + "</mo>"}
}

// fence is a delimiter that does not grow.
func fence(s string) atom {
	a := mo(s, ` stretchy="false"`)
	if s == "|" || s == "‖" {
		a = mo(s, ` stretchy="false" lspace="0" rspace="0"`)
	}
	a.operand = !strings.Contains("([{⟨⌊⌈", s)
	return a
}

// scripted reads an atom with its primes, its sub- and its superscript. Primes stand beside the atom: the sign is raised by itself, and fonts
// that are not made for formulas would raise it twice.
func (p *formula) scripted(operand bool, before []string) (atom, error) {
	a, err := p.atom(operand)
	if err != nil {
		return a, err
	}
	var primes string
	var sub, sup []string
	for {
		t := p.peek()
		if t != "^" && t != "_" && t != "'" {
			break
		}
		p.next()
		if t == "'" {
			primes += `<mo lspace="0" rspace="0">′</mo>`
			continue
		}
		s, err := p.argument()
		if err != nil {
			return a, err
		}
		if t == "^" {
			sup = append(sup, s)
		} else {
			sub = append(sub, s)
		}
	}
	if primes != "" {
		a.s = "<mrow>" + a.s + primes + "</mrow>"
	}
	name := map[bool]string{false: "msub", true: "munder"}[a.movable]
	switch {
	case sub != nil && sup != nil:
		name += map[bool]string{false: "sup", true: "over"}[a.movable]
	case sup != nil:
		name = map[bool]string{false: "msup", true: "mover"}[a.movable]
	}
	if sub != nil || sup != nil {
		a.s = "<" + name + ">" + a.s
		for _, s := range [][]string{sub, sup} {
			if s != nil {
				a.s += group(s)
			}
		}
		a.s += "</" + name + ">"
	}
	if a.function {
		if operand && len(before) > 0 {
			a.s = space(".1667em") + a.s
		}
		if t := p.peek(); t != "" && !strings.Contains(`)]}([,.;|^_&\right\left\\\{`, t) && sizes[t] == "" {
			a.s += space(".1667em")
		}
		a.s = "<mrow>" + a.s + "</mrow>"
	}
	return a, nil
}

// argument reads a group, or one token.
func (p *formula) argument() (string, error) {
	switch t := p.peek(); {
	case t == "{":
		p.next()
		return p.row("}")
	case t != "" && '0' <= t[0] && t[0] <= '9':
		return "<mn>" + p.next() + "</mn>", nil
	}
	a, err := p.atom(false)
	return a.s, err
}

// raw reads a group, or one token, as text.
func (p *formula) raw() string {
	if p.peek() != "{" {
		return p.next()
	}
	p.next()
	depth := 1
	for i, r := range p.rest {
		switch r {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				s := p.take(i)
				p.take(1)
				return s
			}
		}
	}
	return p.take(len(p.rest))
}

func (p *formula) atom(operand bool) (atom, error) {
	if n := len(number.FindString(strings.TrimLeft(p.rest, " \t\n"))); n > 0 {
		p.rest = strings.TrimLeft(p.rest, " \t\n")
		return atom{s: "<mn>" + p.take(n) + "</mn>", operand: true}, nil
	}
	t := p.next()
	switch {
	case t == "":
		return atom{}, fmt.Errorf("it ends too early")
	case t == "{":
		s, err := p.row("}")
		return atom{s: s, operand: true}, err
	case t == "}" || t == "^" || t == "_" || t == "&":
		return atom{}, fmt.Errorf("%q where a symbol should be", t)
	case strings.Contains("()[]|", t):
		return fence(t), nil
	case t == "=" || t == "<" || t == ">" || t == ":":
		a := mo(t, "")
		a.relation = true
		return a, nil
	case t == "+" || t == "-" || t == `\pm` || t == `\mp`:
		form := ` form="prefix"`
		if operand {
			form = ` form="infix"`
		}
		if t == "-" {
			t = "−"
		}
		return mo(strings.NewReplacer(`\pm`, "±", `\mp`, "∓").Replace(t), form), nil
	case t == "/":
		return mo(t, ` lspace="0" rspace="0"`), nil
	case t == "*":
		return mo("∗", ""), nil
	case strings.Contains(",;!.…", t):
		a := mo(t, "")
		a.operand = t == "!" || t == "…"
		return a, nil
	case t[0] != '\\':
		if r := []rune(t)[0]; unicode.IsLetter(r) {
			return mi(t), nil
		}
		return mo(t, ""), nil
	case identifiers[t] != "":
		return mi(identifiers[t]), nil
	case upright[t] != "":
		return normal(upright[t]), nil
	case operators[t] != "":
		a := mo(operators[t], "")
		a.operand = strings.HasSuffix(t, "dots")
		return a, nil
	case relations[t] != "":
		a := mo(relations[t], "")
		a.relation = true
		return a, nil
	case large[t] != "":
		a := mo(large[t], "")
		a.movable = true
		return a, nil
	case delimiters[t] != "":
		return fence(delimiters[t]), nil
	case slices.Contains(functions, t[1:]):
		a := mi(t[1:])
		a.operand, a.function = false, true
		return a, nil
	case slices.Contains(limits, t[1:]):
		a := mo(t[1:], ` movablelimits="true" lspace="0" rspace="0"`)
		a.function, a.movable = true, true
		return a, nil
	}
	return p.command(t)
}

// command reads what takes arguments.
func (p *formula) command(t string) (atom, error) {
	whole := func(format string, n int) (atom, error) {
		args := make([]any, n)
		for i := range args {
			s, err := p.argument()
			if err != nil {
				return atom{}, err
			}
			args[i] = s
		}
		return atom{s: fmt.Sprintf(format, args...), operand: true}, nil
	}
	switch size := strings.TrimRight(t, "lr"); {
	case t == `\frac`:
		return whole("<mfrac>%s%s</mfrac>", 2)
	case t == `\tfrac`, t == `\dfrac`:
		return whole(fmt.Sprintf(`<mstyle displaystyle="%t"><mfrac>%%s%%s</mfrac></mstyle>`, t == `\dfrac`), 2)
	case t == `\binom`:
		return whole(stacked("()", "%s", "%s"), 2)
	case t == `\sqrt` && p.peek() == "[":
		p.next()
		root, err := p.row("]")
		if err != nil {
			return atom{}, err
		}
		return whole("<mroot>%s"+root+"</mroot>", 1)
	case t == `\sqrt`:
		return whole("<msqrt>%s</msqrt>", 1)
	case accents[t] != "":
		return whole(fmt.Sprintf(`<mover accent="true">%%s<mo stretchy="%t">%s</mo></mover>`, len(t) > 5, accents[t]), 1)
	case t == `\text`, t == `\textrm`, t == `\mbox`, t == `\textit`:
		return atom{s: "<mtext>" + strings.ReplaceAll(html.EscapeString(p.raw()), " ", "\u00a0") + "</mtext>", operand: true}, nil
	case t == `\mathrm`:
		return normal(p.raw()), nil
	case t == `\operatorname`:
		a := normal(p.raw())
		a.operand, a.function = false, true
		return a, nil
	case alphabets[t].upper != 0:
		return p.letters(t)
	case sizes[size] != "":
		s, err := p.delimiter()
		if err != nil {
			return atom{}, err
		}
		a := fence(s)
		a.s = strings.Replace(a.s, `stretchy="false"`, fmt.Sprintf(`stretchy="true" symmetric="true" minsize="%s" maxsize="%[1]s"`, sizes[size]), 1)
		return a, nil
	case t == `\left`:
		left, err := p.delimiter()
		if err != nil {
			return atom{}, err
		}
		body, err := p.row(`\right`)
		if err != nil {
			return atom{}, err
		}
		right, err := p.delimiter()
		return fenced(left, body, right), err
	case t == `\begin`:
		return p.environment(p.raw())
	}
	return atom{}, fmt.Errorf("no %s: add it to internal/tools/site/math.go, or say it otherwise", t)
}

func fenced(left, body, right string) atom {
	side := func(s, form string) string {
		if s == "" {
			return ""
		}
		return mo(s, ` form="`+form+`" stretchy="true"`).s
	}
	return atom{s: "<mrow>" + side(left, "prefix") + body + side(right, "postfix") + "</mrow>", operand: true}
}

func (p *formula) delimiter() (string, error) {
	switch t := p.next(); {
	case t == ".":
		return "", nil
	case t != "" && strings.Contains("()[]|/", t):
		return t, nil
	case delimiters[t] != "":
		return delimiters[t], nil
	default:
		return "", fmt.Errorf("%q is no delimiter", t)
	}
}

// letters reads letters of an alphabet.
func (p *formula) letters(alphabet string) (atom, error) {
	a, out := alphabets[alphabet], ""
	for _, r := range p.raw() {
		before, after, odd := strings.Cut(a.odd, string(r))
		switch {
		case odd && len([]rune(before))%2 == 0:
			out += string([]rune(after)[0])
		case 'A' <= r && r <= 'Z':
			out += string(a.upper + r - 'A')
		case 'a' <= r && r <= 'z' && a.lower != 0:
			out += string(a.lower + r - 'a')
		case '0' <= r && r <= '9' && a.digit != 0:
			out += string(a.digit + r - '0')
		default:
			return atom{}, fmt.Errorf("%s has no %q", alphabet, r)
		}
	}
	return normal(out), nil
}

// environment reads the rows of a table up to its end.
func (p *formula) environment(name string) (atom, error) {
	sides, ok := environments[name]
	if !ok {
		return atom{}, fmt.Errorf("no environment %s", name)
	}
	table := "<mtable><mtr>"
	for {
		at := p.rest
		// A cell ends at any of three tokens; which one it was is read again.
		cell, err := p.row("&", `\\`, `\end`)
		if err != nil {
			return atom{}, err
		}
		table += "<mtd>" + cell + "</mtd>"
		switch taken := strings.TrimSuffix(at, p.rest); {
		case strings.HasSuffix(taken, "&"):
		case strings.HasSuffix(taken, `\\`):
			table += "</mtr><mtr>"
		default:
			if end := p.raw(); end != name {
				return atom{}, fmt.Errorf("%s ends as %s", name, end)
			}
			return fenced(sides[0], table+"</mtr></mtable>", sides[1]), nil
		}
	}
}
