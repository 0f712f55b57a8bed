/** Host builtins for text: sprintf, strings.*, regex.*, semver, units, encodings, digests. Values are OPA 1.22's own. */
import { afterAll, describe } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { exactly, testTable } from './builtins-table.ts';
import { closeCompiler } from './policies.ts';

afterAll(closeCompiler);

describe('sprintf', () => {
  testTable('verbs, flags, widths', [
    ['sprintf("%d %s %v", [1, "a", "b"])', '1 a b'],
    ['sprintf("%v %v %v", [null, true, 1.5])', 'null true 1.5'],
    ['sprintf("%v", [{"b": [1, "x"], "a": {3, 1, 2}}])', '{"a": {1, 2, 3}, "b": [1, "x"]}'],
    ['sprintf("%v %v %v", [set(), {}, []])', 'set() {} []'],
    ['sprintf("%s", [["a\\n\\"q\\"", "☺"]])', '["a\\n\\"q\\"", "☺"]'],
    ['sprintf("|%5d|%-5d|%05d|%+d|% d|", [42, 42, -42, 42, 42])', '|   42|42   |-0042|+42| 42|'],
    ['sprintf("%x %X %#x %o %b %c %q %U", [255, 255, -255, 8, 5, 9786, 120, 9786])', "ff FF -0xff 10 101 ☺ 'x' U+263A"],
    ['sprintf("%.3d|%8.3d|%O|%#o", [7, 7, 8, 8])', '007|     007|0o10|010'],
    [
      'sprintf("%f %.2f %8.3f|%-8.1f|%e %g %G", [1.5, 2.345, 3.14159, 2.25, 123456.789, 1e21, 1e-7])',
      '1.500000 2.35    3.142|2.2     |1.234568e+05 1e+21 1E-07',
    ],
    ['sprintf("%v %v %v %v", [1e6, 123456789.5, 100000.5, 0.00001])', '1e+06 1.234567895e+08 100000.5 1e-05'],
    ['sprintf("%.0f %.0f %.0f %.1f", [0.5, 1.5, 2.5, 0.25])', '0 2 2 0.2'],
    ['sprintf("%.3g %.10g %g %#g", [123456.0, 1.5, 0.1, 1.5])', '1.23e+05 1.5 0.1 1.50000'],
    [
      'sprintf("%5s|%-5s|%.2s|%q|%x|% x|%#q", ["ab", "ab", "☺☺☺", "a\\"b", "hi", "abc", "hi"])',
      '   ab|ab   |☺☺|"a\\"b"|6869|61 62 63|`hi`',
    ],
    ['sprintf("%T %T %T %T", [1, 1.5, "x", [1]])', 'int64 float64 string string'],
    ['sprintf("%*d|%-*d|%.*f", [5, 1, 4, 2, 2, 1.239])', '    1|2   |1.24'],
    ['sprintf("%[2]d %[1]d", [1, 2])', '2 1'],
    [
      'sprintf("%x|%.2X|%b|%#v|%+v", [0.1, 1.999, 1.5, "a", 5])',
      '0x1.999999999999ap-04|0X1.00P+01|6755399441055744p-52|"a"|5',
    ],
    ['sprintf("100%%", [])', '100%'],
  ]);
  testTable('mistakes are shown as Go shows them', [
    ['sprintf("%d", ["a"])', '%!d(string=a)'],
    ['sprintf("%s", [1])', '%!s(int64=1)'],
    ['sprintf("%d %f", [1.5, 1])', '%!d(float64=1.5) %!f(int64=1)'],
    ['sprintf("%t %z", [true, 2])', '%!t(string=true) %!z(int64=2)'],
    ['sprintf("%d %d", [1])', '1 %!d(MISSING)'],
    ['sprintf("x", [1, "b", 2.5])', 'x%!(EXTRA int64=1, string=b, float64=2.5)'],
    ['sprintf("%", [])', '%!(NOVERB)'],
    ['sprintf("%[5]d", [1])', '%!d(BADINDEX)'],
    ['sprintf("%*d", ["a", 1])', '%!(BADWIDTH)1'],
    ['sprintf("%.*d", [-1, 1])', '%!(BADPREC)1'],
  ]);
  testTable('integers of any size', [
    ['sprintf("%d", [9007199254740993])', '9007199254740993'],
    ['sprintf("%d", [18446744073709551616])', '18446744073709551616'],
    ['sprintf("%s %v", [123456789123456789123, 123456789123456789123])', '123456789123456789123 123456789123456789123'],
    ['sprintf("%x", [-9223372036854775808])', '-8000000000000000'],
  ]);
});

describe('strings', () => {
  testTable('matching and splitting', [
    ['strings.any_prefix_match("a/b/c", ["x", "a/b"])', true],
    ['strings.any_prefix_match({"b/c", "a/b/c"}, {"x", "a/d"})', false],
    ['strings.any_prefix_match(["b/c", "a/d/c"], {"x", "a/d"})', true],
    ['strings.any_suffix_match("x.go", [".rs", ".go"])', true],
    ['strings.any_suffix_match(["a.c", "b.h"], [".rs", ".go"])', false],
    ['strings.any_prefix_match("a", [])', false],
    ['strings.count("cheese", "e")', 3],
    ['strings.count("aaaa", "aa")', 2],
    ['strings.count("☺☺", "")', 3],
    ['strings.split_n("a.b.c.d", ".", 2)', ['a', 'b']],
    ['strings.split_n("a.b.c.d", ".", -2)', ['c', 'd']],
    ['strings.split_n("a.b", ".", 9)', ['a', 'b']],
    ['strings.split_n("a☺b", "", 2)', ['a', '☺']],
    ['indexof_n("abcabcabc", "abc")', [0, 3, 6]],
    ['indexof_n("aaaa", "aa")', [0, 1, 2]],
    ['indexof_n("☺x☺x", "x")', [1, 3]],
    ['indexof_n("abc", "")', undefined],
    ['glob.quote_meta("*.github.com/{a,b}[0]?")', '\\*.github.com/\\{a,b\\}\\[0\\]\\?'],
  ]);
  testTable('templates', [
    ['strings.render_template("hi {{.name}}, {{.n}}", {"name": "ann", "n": 3})', 'hi ann, 3'],
    [
      'strings.render_template("{{range $i, $n := .names}}{{if $i}}, {{end}}{{$n}}{{end}}", {"names": ["a", "b"]})',
      'a, b',
    ],
    ['strings.render_template("{{range .names}}[{{.}}]{{else}}none{{end}}", {"names": []})', 'none'],
    ['strings.render_template("{{if .a}}A{{else if .b}}B{{else}}C{{end}}", {"b": 1})', 'B'],
    ['strings.render_template("{{with .user}}{{.name}} {{$.org}}{{end}}", {"user": {"name": "u"}, "org": "o"})', 'u o'],
    ['strings.render_template("a {{- /* c */ -}} b {{.m}}", {"m": [1, "x"]})', 'ab [1 x]'],
    ['strings.render_template("{{.missing}}", {"a": 1})', '<undefined>'],
    ['strings.render_template("{{.a.b}}", {"a": 1})', undefined],
    ['strings.render_template("{{if .a}}", {"a": 1})', undefined],
  ]);
});

describe('regex', () => {
  testTable('on RE2 syntax', [
    ['regex.replace("foo bar baz", `(\\w)(\\w+)`, "$2$1")', 'oof arb azb'],
    ['regex.replace("foo bar", `(?P<first>\\w)(\\w+)`, concat("", ["$", "{2}-$first"]))', 'oo-f ar-b'],
    ['regex.replace("abc", "", "-")', '-a-b-c-'],
    ['regex.replace("baaac", "a*", "x")', 'xbxcx'],
    ['regex.replace("cost: 5", `\\d`, "$$")', 'cost: $'],
    ['regex.replace("a☺b", "", "-")', '-a-☺-b-'],
    ['regex.replace("x", "(", "y")', undefined],
    [`regex.split("${'x'.repeat(limits.regexPatternCharsMax)}", "a")`, ['a']],
    [`regex.split("${'x'.repeat(limits.regexPatternCharsMax + 1)}", "a")`, undefined],
    ['regex.split("[,;]\\\\s*", "a, b;c")', ['a', 'b', 'c']],
    ['regex.split("x*", "axbxc")', ['a', 'b', 'c']],
    ['regex.split(",", ",a,")', ['', 'a', '']],
    ['regex.split("a", "")', ['']],
    ['regex.split("", "")', []],
    ['regex.split("", "abc")', ['a', 'b', 'c']],
    ['regex.find_n("[oa]+", "foo bar boo", -1)', ['oo', 'a', 'oo']],
    ['regex.find_n("[oa]+", "foo bar boo", 2)', ['oo', 'a']],
    ['regex.find_n("a(?=b)", "ab", -1)', undefined],
    ['regex.template_match("urn:foo:{.*}", "urn:foo:bar:baz", "{", "}")', true],
    ['regex.template_match("urn:foo:<.*>", "urn:bar:baz", "<", ">")', false],
    ['regex.template_match("a{[0-9]{2}}z", "a42z", "{", "}")', true],
    ['regex.template_match("a{b", "ab", "{", "}")', undefined],
    ['regex.template_match("a", "a", "{{", "}")', undefined],
  ]);
});

describe('versions, units, identifiers', () => {
  testTable('semver', [
    ['semver.compare("1.2.3", "1.2.10")', -1],
    ['semver.compare("2.0.0", "2.0.0-rc.1")', 1],
    ['semver.compare("1.0.0+a", "v1.0.0+b")', 0],
    ['semver.compare("1.0.0-alpha.2", "1.0.0-alpha.11")', -1],
    ['semver.compare("1.0", "1.0.0")', undefined],
    ['semver.is_valid("1.0.0-rc.1+build.5")', true],
    ['semver.is_valid("01.0.0")', false],
    ['semver.is_valid(" 1.0.0")', false],
    ['semver.is_valid("1.0")', false],
  ]);
  testTable('units', [
    ['units.parse("10Ki")', 10240],
    ['units.parse("1.5M")', 1500000],
    ['units.parse("100m")', exactly('0.1000000000')],
    ['units.parse("5k")', 5000],
    ['units.parse("1e3")', 1000],
    ['units.parse("10 K")', undefined],
    ['units.parse("10x")', undefined],
    ['units.parse("K")', undefined],
    ['units.parse_bytes("10MiB")', 10485760],
    ['units.parse_bytes("1.5kb")', 1500],
    ['units.parse_bytes("\\"2GB\\"")', 2000000000],
    ['units.parse_bytes("9.5ei")', exactly('10952754293765046272')],
    ['units.parse_bytes("1b")', undefined],
  ]);
  testTable('uuid', [
    ['uuid.parse("0aa8f6f2-d4a6-4e6c-8ed0-b5ee0f8a8b37")', { variant: 'RFC4122', version: 4 }],
    [
      'uuid.parse("urn:uuid:00000000-0000-1000-8000-000000000000")',
      {
        clocksequence: 0,
        macvariables: 'global:unicast',
        nodeid: '00-00-00-00-00-00',
        time: exactly('6227451273709551616'),
        variant: 'RFC4122',
        version: 1,
      },
    ],
    ['uuid.parse("not-a-uuid")', undefined],
  ]);
});

describe('encodings and digests', () => {
  testTable('hex, base64url, urlquery', [
    ['hex.encode("☺")', 'e298ba'],
    ['hex.decode("E298ba")', '☺'],
    ['hex.decode("abc")', undefined],
    ['base64url.encode_no_pad("a?>b")', 'YT8-Yg'],
    ['urlquery.encode("a b&c=ü!*\'()~")', 'a+b%26c%3D%C3%BC%21%2A%27%28%29~'],
    ['urlquery.decode("a+b%26")', 'a b&'],
    ['urlquery.decode("%zz")', undefined],
    ['urlquery.encode_object({"b": ["2", "1"], "a": "x y", "c": {"q"}})', 'a=x+y&b=2&b=1&c=q'],
    ['urlquery.encode_object(json.unmarshal(`{"b": 1}`))', undefined],
    ['urlquery.decode_object("a=1&b=x+y&a=2&c")', { a: ['1', '2'], b: ['x y'], c: [''] }],
    ['urlquery.decode_object("a=1;b=2")', undefined],
  ]);
  testTable('crypto', [
    ['crypto.md5("lorem")', 'd2e16e6ef52a45b7468f1da56bba1953'],
    ['crypto.sha1("lorem")', 'b58e92fff5246645f772bfe7a60272f356c0151a'],
    ['crypto.sha256("lorem")', '3400bb495c3f8c4c3483a44c6bc1a92e9d94406db75a6f27dbccc11c76450d8a'],
    ['crypto.hmac.sha256("lorem", "key")', 'f1f9c4fa55485d0aa5440b79738cd542cac61755c535586e6be2a2c61bfa7ae2'],
    ['crypto.hmac.equal("abc", "abc")', true],
    ['crypto.hmac.equal("abc", "abd")', false],
  ]);
});
