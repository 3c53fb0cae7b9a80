//! What a real bash runs, the scan has seen, or it has said that it does not understand.

mod support;

use support::{Random, STUBS, Stubs, assert_all_seen, has};

/// Fragments that are put together at random: most results are no scripts, but those that are
/// contain what nobody would think of.
const SOUP: &[&str] = &[
    "$(",
    "$(",
    "$((",
    "((",
    ")",
    ")",
    "))",
    "`",
    "`",
    "'",
    "\"",
    "\"",
    "\"",
    "${x:-",
    "${x#",
    "${x",
    "${y:=",
    "}",
    "}",
    "[[ ",
    " ]]",
    "$[",
    "]",
    "<(",
    ">(",
    "<<E\n",
    "<<'E'\n",
    "<<-E\n",
    "\nE\n",
    "\n\tE\n",
    "\n",
    "\n",
    ";",
    ";",
    " ; ",
    " & ",
    " && ",
    " || ",
    " | ",
    "|&",
    "! ",
    "{ ",
    "; }",
    "( ",
    " )",
    "if ",
    "; then ",
    "; fi",
    "else ",
    "case x in x) ",
    " ;; esac",
    "esac",
    "for i in a b; do ",
    "; done",
    "while ",
    "until ",
    " do ",
    "f() { ",
    "f ",
    "function g ",
    "time ",
    "#",
    " # ",
    "\\",
    "\\\n",
    "\\'",
    "\\\"",
    "\\`",
    "\\$",
    "$'",
    "$'\\'",
    "a=",
    "a=(",
    "a[",
    "]=",
    "=",
    " x ",
    "x",
    "1",
    "+",
    "> o",
    "< /dev/null",
    ">&2 ",
    "2>&1",
    "&> o ",
    "eval ",
    "trap ",
    " EXIT",
    "command ",
    "exec ",
    "builtin ",
    "echo ",
    ": ",
    "true",
    "[ ",
    " ]",
    "test ",
    "$x",
    "$1",
    "$@",
    "$#",
    "*",
    "?",
    "{a,b}",
    "~",
    "-v",
    "E",
    "$",
    "\t",
    " ",
    "<<<",
    "coproc ",
    "select i in a; do ",
    "let ",
    "declare ",
    "local ",
    "export ",
    "printf -v ",
    "read ",
    "unset ",
    "\u{a0}",
    "é",
];

fn soup(random: &mut Random) -> String {
    let mut script = String::new();
    for _ in 0..=random.below(14) {
        if random.below(3) == 0 {
            script = format!("{script}k{} ", random.below(STUBS));
        } else {
            script.push_str(random.pick(SOUP));
        }
    }
    script
}

/// Well-formed scripts by a grammar, with every construct within every other.
struct Grammar<'r> {
    random: &'r mut Random,
    next: usize,
}

impl Grammar<'_> {
    fn name(&mut self) -> String {
        self.next = (self.next + 1) % STUBS;
        let n = self.next;
        match self.random.below(12) {
            0 => format!("'k'{n}"),
            1 => format!("\\k{n}"),
            2 => format!("\"k{n}\""),
            3 => format!("$'\\x6b'{n}"),
            4 => format!("k\\\n{n}"),
            5 => format!("''k{n}"),
            _ => format!("k{n}"),
        }
    }

    fn word(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self
                .random
                .pick(&[
                    "a", "'b c'", "\"d\"", "\\;", "\"$x\"", "$x", "$#", "a#b", "'#'", "\"'\"", "}",
                    "{}", "-x",
                ])
                .to_owned();
        }
        let d = depth - 1;
        match self.random.below(26) {
            0 => format!("$({})", self.list(d)),
            1 => format!("\"$({})\"", self.list(d)),
            2 => format!("`{}`", self.simple(0)),
            3 => format!("\"`{}`\"", self.simple(0)),
            4 => format!("${{x:-{}}}", self.word(d)),
            5 => format!("\"${{x:-{}}}\"", self.word(d)),
            6 => format!("$((1 + ${{#x}} + $({})0))", self.list(d)),
            7 => format!("$[1 + {}]", self.random.below(9)),
            8 => format!("<({})", self.list(d)),
            9 => format!("a{}b", self.word(d)),
            10 => format!("${{x#{}}}", self.word(d)),
            11 => format!("\"${{x%%{}}}\"", self.word(d)),
            12 => format!("${{x/{}/{}}}", self.word(d), self.word(d)),
            13 => format!("$'it\\'s' {}", self.word(d)),
            14 => format!(
                "\"a {} b\"",
                self.word(d).replace(['"', '\'', '\\', '#'], "")
            ),
            15 => format!("$(case x in x) {} ;; esac)", self.list(d)),
            16 => format!("\"$(case x in (x) {} ;; esac)\"", self.list(d)),
            17 => format!("$(cat=1; {} # it's )\n)", self.list(d)),
            18 => format!("$({} <<E\n$({})\nE\n)", self.simple(0), self.list(d)),
            19 => format!("${{a[$(({}))]:-{}}}", self.random.below(3), self.word(d)),
            20 => format!("\"${{x:-\"{}\"}}\"", self.word(d).replace('"', "")),
            21 => format!(
                "`{} \\; \\\\ \\`k3\\` \\$(k4) \"a\"`",
                self.simple(0).replace('`', "")
            ),
            _ => self.word(0),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        match self.random.below(10) {
            0 => text = format!("a={} ", self.word(depth)),
            1 => text.push_str("> o "),
            2 => text.push_str("command "),
            3 => text.push_str("a=1 b+=2 "),
            _ => {}
        }
        text.push_str(&self.name());
        for _ in 0..self.random.below(3) {
            text.push(' ');
            text.push_str(&self.word(depth));
        }
        match self.random.below(12) {
            0 => text.push_str(" 2>&1"),
            1 => text = format!("{text} <<< {}", self.word(depth)),
            2 => text.push_str(" > o"),
            _ => {}
        }
        text
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.command(depth);
        for _ in 0..self.random.below(2) {
            text.push_str(self.random.pick(&[
                "; ", "\n", " && ", " || ", " | ", " & ", " |& ", " # c'\n", " &&\n", " |\n",
            ]));
            text.push_str(&self.command(depth));
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let d = depth - 1;
        match self.random.below(26) {
            0 => format!("( {} )", self.list(d)),
            1 => format!("{{ {}; }}", self.simple(d)),
            2 => format!(
                "if {}\nthen {}\nelse {}\nfi",
                self.list(d),
                self.list(d),
                self.list(d)
            ),
            3 => format!("for i in {} b; do {}\ndone", self.word(d), self.list(d)),
            4 => format!(
                "case {} in (a) {} ;; b|*) {}\nesac",
                self.word(d),
                self.list(d),
                self.list(d)
            ),
            5 => format!("f() {{ {}\n}}; f", self.list(d)),
            6 => format!(
                "[[ -n {} && x == {} ]]",
                self.word(d),
                self.word(d).replace(' ', "")
            ),
            7 => format!("(( 1 + $({}) 0 ))", self.list(d)),
            8 => format!("a=({} {})", self.word(d), self.word(d)),
            9 => format!("a[$(({}))]={}", self.random.below(3), self.word(d)),
            10 => format!(
                "{} <<E\nit's $({}) \\$(k1) `k2`\nE\n",
                self.simple(d),
                self.list(d)
            ),
            11 => format!("{} <<'E'\nit's $(k1) `k2`\nE\n", self.simple(d)),
            12 => format!(
                "{} <<-E | {}\n\t$({})\n\tE\n",
                self.simple(0),
                self.simple(0),
                self.list(d)
            ),
            13 => format!("eval '{}'", self.list(d).replace('\'', "'\\''")),
            14 => format!("trap '{}' EXIT", self.list(d).replace('\'', "'\\''")),
            15 => format!("! {}", self.simple(d)),
            16 => format!("time {}", self.simple(d)),
            17 => format!("for ((i=0; i<1; i++)); do {}\ndone", self.list(d)),
            18 => format!("while {}\ndo {}\nbreak\ndone", self.list(d), self.list(d)),
            19 => format!("function g {{ {}\n}} > o; g", self.list(d)),
            20 => format!("declare a={} b=({})", self.word(d), self.word(d)),
            21 => format!(
                "[ -n \"{}\" ]",
                self.word(d).replace(['"', '\'', '\\', '#'], "")
            ),
            22 => format!("[[ x =~ ^({}|b)$ ]]", self.word(d).replace(' ', "")),
            _ => self.simple(depth),
        }
    }
}

fn amount(default: usize) -> usize {
    support::number("BASHSCAN_ROUNDS", default)
}

#[test]
fn what_bash_runs_of_generated_scripts_was_seen() {
    if !has("bash") {
        eprintln!("skipped: no bash");
        return;
    }
    let stubs = Stubs::new();
    let mut random = Random(amount(1) as u64);
    let (mut clear, mut ran_any) = (0, 0);
    for _ in 0..amount(400) {
        let depth = 1 + random.below(3);
        let next = random.below(STUBS);
        let script = Grammar {
            random: &mut random,
            next,
        }
        .list(depth);
        if !harness_bashscan::scan(&script).opaque.is_empty() {
            continue;
        }
        clear += 1;
        let ran = stubs.run(&script);
        ran_any += usize::from(!ran.is_empty());
        assert_all_seen(&script, &ran);
    }
    // The test means something only if much is understood, and runs.
    assert!(
        clear * 3 > amount(400),
        "only {clear} scripts were understood"
    );
    assert!(
        ran_any * 2 > clear,
        "only {ran_any} of {clear} scripts ran something"
    );
}

#[test]
fn what_bash_runs_of_random_fragments_was_seen() {
    if !has("bash") {
        eprintln!("skipped: no bash");
        return;
    }
    let stubs = Stubs::new();
    let mut random = Random(2 + amount(0) as u64);
    let mut left = amount(400);
    let mut ran_any = 0;
    while left > 0 {
        let script = soup(&mut random);
        if !script.contains('k') || !harness_bashscan::scan(&script).opaque.is_empty() {
            continue;
        }
        left -= 1;
        let ran = stubs.run(&script);
        ran_any += usize::from(!ran.is_empty());
        assert_all_seen(&script, &ran);
    }
    assert!(
        ran_any * 2 > amount(400),
        "only {ran_any} scripts ran something"
    );
}
