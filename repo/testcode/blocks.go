package testcode

import (
	"regexp"
	"strings"
)

var (
	pythonBlock    = regexp.MustCompile(`^[ \t]*(?:async[ \t]+)?(def|class)[ \t]+([\pL_][\pL\d_]*)`)
	pythonVariable = regexp.MustCompile(`^([\pL_][\pL\d_]*)[ \t]*(?::[^=\n]*)?=[^=]`)
	pythonHook     = regexp.MustCompile(`^(?:setUp|tearDown|setUpClass|tearDownClass|setUpModule|tearDownModule|asyncSetUp|asyncTearDown|(?:setup|teardown)(?:_\w+)?)$`)
)

// pythonBlocks goes by indentation: a block begins with its decorators, and ends before the next statement that is not indented more.
func pythonBlocks(f *File, s *scan) {
	code := strings.Split(s.code, "\n")
	var begins []int // lines, from 0, at which a statement begins
	depth, long := 0, false
	for i, line := range code {
		if strings.TrimSpace(line) != "" && depth == 0 && !long {
			begins = append(begins, i)
		}
		for at := 0; at < len(line); at++ {
			switch line[at] {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth = max(0, depth-1)
			case '"', '\'':
				// Of a string of several lines only the quotes are left.
				if at+2 < len(line) && line[at+1] == line[at] && line[at+2] == line[at] {
					long = !long
					at += 2
				}
			}
		}
	}
	indent := func(i int) int { return len(code[i]) - len(strings.TrimLeft(code[i], " \t")) }
	for k, i := range begins {
		m := pythonBlock.FindStringSubmatch(code[i])
		v := pythonVariable.FindStringSubmatch(code[i])
		if m == nil && v == nil {
			continue
		}
		first, next := k, k+1
		if m != nil {
			for first > 0 && indent(begins[first-1]) == indent(i) && strings.HasPrefix(strings.TrimLeft(code[begins[first-1]], " \t"), "@") {
				first--
			}
			for next < len(begins) && indent(begins[next]) > indent(i) {
				next++
			}
		}
		last := len(code)
		if next < len(begins) {
			last = begins[next]
		}
		for last > i+1 && strings.TrimSpace(code[last-1]) == "" {
			last--
		}
		b := Block{First: begins[first] + 1, Last: last}
		switch {
		case m == nil:
			b.Name = v[1]
		case m[1] == "class":
			b.Name, b.Test = m[2], strings.HasPrefix(m[2], "Test") || strings.HasSuffix(m[2], "Test") || strings.HasSuffix(m[2], "Tests") || strings.HasSuffix(m[2], "TestCase")
		default:
			b.Name, b.Callable, b.Test = m[2], true, strings.HasPrefix(m[2], "test")
			b.Hook = pythonHook.MatchString(b.Name) || strings.Contains(strings.Join(f.lines[begins[first]:i], " "), "autouse")
		}
		f.add(b)
	}
}

var (
	scriptCall     = regexp.MustCompile(`(?:^|[^\w$.])(describe|context|suite|it|test|specify|fit|xit|xtest|fdescribe|xdescribe|beforeEach|beforeAll|afterEach|afterAll|before|after)((?:\.\w+)*)\s*[(` + "`]")
	scriptFunction = regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:async[ \t]+)?function[ \t]*\*?[ \t]*([\pL_$][\w$]*)[ \t]*\(`)
	scriptVariable = regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+)?(?:const|let|var)[ \t]+([\pL_$][\w$]*)[^=\n]*=[^=>]`)
)

// scriptBlocks are calls of test frameworks, functions and variables.
func scriptBlocks(f *File, s *scan) {
	for _, m := range scriptCall.FindAllStringSubmatchIndex(s.code, -1) {
		word, modifiers, at := s.code[m[2]:m[3]], s.code[m[4]:m[5]], m[1]-1
		if strings.HasSuffix(modifiers, ".each") || strings.HasSuffix(modifiers, ".for") { // its rows, and then the call
			if s.code[at] == '`' {
				at = s.space(at + f.language.piece(s.text, at).length)
			} else {
				at = s.space(s.closing(at))
			}
		}
		if at >= len(s.code) || s.code[at] != '(' {
			continue
		}
		b := Block{First: s.line(m[2]), Last: s.line(s.closing(at) - 1)}
		switch {
		case strings.HasPrefix(word, "before"), strings.HasPrefix(word, "after"):
			b.Hook, b.Callable = true, true
		default:
			title, ok := s.literal(s.space(at+1), f.language)
			if !ok {
				continue
			}
			b.Name, b.Test, b.title = title, true, titleOf(title)
			b.Callable = !strings.Contains(word, "describe") && word != "context" && word != "suite"
		}
		f.add(b)
	}
	for _, m := range scriptFunction.FindAllStringSubmatchIndex(s.code, -1) {
		body := strings.IndexByte(s.code[s.closing(m[1]-1):], '{')
		if body >= 0 {
			f.add(Block{Name: s.code[m[2]:m[3]], First: s.line(m[2]), Last: s.line(s.closing(s.closing(m[1]-1)+body) - 1), Callable: true})
		}
	}
	for _, m := range scriptVariable.FindAllStringSubmatchIndex(s.code, -1) {
		end := m[1] - 1
		for end < len(s.code) && s.code[end] != ';' && s.code[end] != '\n' {
			if strings.IndexByte("([{", s.code[end]) >= 0 {
				end = s.closing(end)
			} else {
				end++
			}
		}
		first, last := s.line(m[2]), s.line(min(end, len(s.code)-1))
		f.add(Block{Name: s.code[m[2]:m[3]], First: first, Last: last, Callable: strings.Contains(s.code[m[1]-1:end], "=>")})
	}
}

var (
	braceClass  = regexp.MustCompile(`\b(?:class|interface|record|object|enum|struct|trait)\s+([\pL_$][\w$]*)[^{};]*\{`)
	braceMethod = regexp.MustCompile("(?:([\\pL_$][\\w$]*)|`([^`\\n]+)`)\\s*\\(")
	braceBody   = regexp.MustCompile(`^\s*(?:throws\s+[\w.,\s]+|:\s*[\w<>?,.\s]+)?\s*(\{|=>?[^=])`)
	braceHook   = regexp.MustCompile(`@(?:Before|After)(?:Each|All|Class)?\b|\[(?:SetUp|TearDown|OneTimeSetUp|OneTimeTearDown|TestInitialize)\]`)
	braceTest   = regexp.MustCompile(`@(?:\w+\.)*\w*Test(?:Factory|Template)?\b|\[(?:Test|Fact|Theory|TestMethod|TestCase)\b`)
	braceOther  = regexp.MustCompile(`^(?:if|for|while|switch|catch|synchronized|using|lock|return|new|else|when|try|throw|super|this|assert|foreach)$`)
)

// braceBlocks are classes and methods with their annotations.
func braceBlocks(f *File, s *scan) {
	for _, m := range braceClass.FindAllStringSubmatchIndex(s.code, -1) {
		name := s.code[m[2]:m[3]]
		f.add(Block{Name: name, First: s.line(s.declaration(m[0])), Last: s.line(s.closing(m[1]-1) - 1), Test: strings.Contains(name, "Test")})
	}
	for _, m := range braceMethod.FindAllStringSubmatchIndex(s.code, -1) {
		name := s.code[max(m[2], m[4]):max(m[3], m[5])] // one of the two groups
		start := s.declaration(m[0])
		head := s.code[start:m[0]]
		end := s.closing(m[1] - 1)
		body := braceBody.FindStringSubmatchIndex(s.code[end:])
		if body == nil || braceOther.MatchString(name) || strings.TrimSpace(head) == "" || strings.HasSuffix(strings.TrimSpace(head), ".") ||
			strings.HasSuffix(strings.TrimSpace(head), "=") || strings.HasSuffix(strings.TrimSpace(head), "new") || strings.HasSuffix(strings.TrimSpace(head), "@") {
			continue
		}
		last := end + body[2]
		if s.code[last] == '{' {
			last = s.closing(last) - 1
		} else { // an expression
			for last < len(s.code) && s.code[last] != ';' && s.code[last] != '\n' {
				if strings.IndexByte("([{", s.code[last]) >= 0 {
					last = s.closing(last)
				} else {
					last++
				}
			}
			last = min(last, len(s.code)-1)
		}
		f.add(Block{
			Name: name, First: s.line(start), Last: s.line(last), Callable: true, Test: braceTest.MatchString(head), Hook: braceHook.MatchString(head),
		})
	}
}

// declaration is where the declaration begins that a name stands in: behind the statement or bracket before it. Brackets of
// annotations belong to it.
func (s *scan) declaration(at int) int {
	depth := 0
	for i := at - 1; i >= 0 && s.work < maxWork; i-- {
		s.work++
		switch c := s.code[i]; {
		case c == ')':
			depth++
		case c == '(':
			if depth == 0 {
				return s.space(i + 1)
			}
			depth--
		case depth == 0 && (c == ';' || c == '{' || c == '}'):
			return s.space(i + 1)
		}
	}
	return s.space(0) // or there was too much to search
}
