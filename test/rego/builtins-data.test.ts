/** Host builtins for structures, addresses and time: object, graph, json, yaml, net, uri, time, casts. Values are OPA 1.22's own. */
import { afterAll, describe } from 'vitest';
import { exactly, testTable } from './builtins-table.ts';
import { closeCompiler } from './policies.ts';

afterAll(closeCompiler);

describe('structures', () => {
  testTable('object.subset', [
    ['object.subset({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 1}})', true],
    ['object.subset({"a": {"b": 1}}, {"a": {"b": 2}})', false],
    ['object.subset({1, 2, 3}, {1, 3})', true],
    ['object.subset([1, 2, 3], [2, 3])', true],
    ['object.subset([1, 2, 3], [1, 3])', false],
    ['object.subset([1, 1, 2], {1, 2})', true],
    ['object.subset({"a": {1, 2}}, {"a": [1, 2]})', false],
    ['object.subset({[1]: 2}, {[1]: 2})', true],
  ]);
  testTable('graph.reachable_paths', [
    [
      'sort(graph.reachable_paths({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}, {"a"}))',
      [
        ['a', 'b', 'd'],
        ['a', 'c', 'd'],
      ],
    ],
    ['graph.reachable_paths({"a": ["b"], "b": ["a"]}, ["a"])', [['a', 'b']]],
    ['graph.reachable_paths({"a": ["b"]}, ["a"])', [['a']]],
    ['graph.reachable_paths({}, ["a"])', []],
  ]);
  testTable('casts and ranges', [
    ['numbers.range_step(0, 10, 4)', [0, 4, 8]],
    ['numbers.range_step(3, -3, 3)', [3, 0, -3]],
    ['numbers.range_step(0, 10, 0)', undefined],
    [
      'numbers.range_step(18446744073709551616, 18446744073709551617, 1)',
      [exactly('18446744073709551616'), exactly('18446744073709551617')],
    ],
    ['numbers.range_step(0, 1.5, 1)', undefined],
  ]);
  testTable('json.patch', [
    ['json.patch({"a": {"foo": 1}}, [{"op": "add", "path": "/a/bar", "value": 2}])', { a: { bar: 2, foo: 1 } }],
    [
      'json.patch([1, 2], [{"op": "add", "path": "/1", "value": 9}, {"op": "add", "path": "/-", "value": 3}])',
      [1, 9, 2, 3],
    ],
    ['json.patch({"a": 1}, [{"op": "move", "from": "/a", "path": "/b"}])', { b: 1 }],
    [
      'json.patch({"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "add", "path": "/b/0", "value": 0}])',
      { a: [1], b: [0, 1] },
    ],
    ['json.patch({"a": null}, [{"op": "test", "path": "/a", "value": null}])', { a: null }],
    ['json.patch({"a": 1}, [{"op": "test", "path": "/a", "value": 2}])', undefined],
    [
      'json.patch({"a/b": 1, "c~d": 2}, [{"op": "remove", "path": "/a~1b"}, {"op": "replace", "path": ["c~d"], "value": 3}])',
      { 'c~d': 3 },
    ],
    [
      'json.patch({"a": {1, 2}}, [{"op": "add", "path": ["a", 3], "value": 3}, {"op": "remove", "path": ["a", 1]}])',
      { a: [2, 3] },
    ],
    ['json.patch({"a": 1}, [{"op": "remove", "path": "/b"}])', undefined],
    ['json.patch([1], [{"op": "add", "path": "/5", "value": 1}])', undefined],
    ['json.patch([1], [{"op": "add", "path": "/01", "value": 1}])', undefined],
    [
      'json.patch({"a": 12345678901234567890}, [{"op": "add", "path": "/b", "value": 1.0}])',
      { a: exactly('12345678901234567890'), b: exactly('1.0') },
    ],
  ]);
  testTable('json.marshal_with_options', [
    ['json.marshal_with_options({"b": [1, {2}], "a": "<&>"}, {})', '{"a":"\\u003c\\u0026\\u003e","b":[1,[2]]}'],
    [
      'json.marshal_with_options({"a": [1, 2], "b": {}}, {"indent": "  "})',
      '{\n  "a": [\n    1,\n    2\n  ],\n  "b": {}\n}',
    ],
    ['json.marshal_with_options({"a": 1}, {"prefix": "> ", "pretty": true})', '> {\n> \t"a": 1\n> }'],
    ['json.marshal_with_options({"a": 1}, {"pretty": false, "indent": "  "})', '{"a":1}'],
    ['json.marshal_with_options({1: true, [2]: null}, {})', '{"1":true,"[2]":null}'],
  ]);
  testTable('yaml', [
    [
      'yaml.unmarshal("a: 1\\nb: [x, 1.5, true, null]\\nc:\\n  - y: 2")',
      { a: 1, b: ['x', 1.5, true, null], c: [{ y: 2 }] },
    ],
    ['yaml.unmarshal("base: &b {x: 1}\\nc: {<<: *b, y: 2}")', { base: { x: 1 }, c: { x: 1, y: 2 } }],
    ['yaml.unmarshal("1: a\\ntrue: b")', { 1: 'a', true: 'b' }],
    ['yaml.unmarshal("n: 12345678901234567890")', { n: exactly('12345678901234567890') }],
    ['yaml.unmarshal("a: 1\\na: 2")', { a: 2 }],
    ['yaml.unmarshal("a: [1")', undefined],
    ['yaml.unmarshal("")', null],
    ['yaml.is_valid("a: 1")', true],
    ['yaml.is_valid("a: [1")', false],
    ['yaml.is_valid("{[1]: 2}")', false],
    ['yaml.marshal({"b": [1, {"c": "x"}], "a": "y: z"})', "a: 'y: z'\nb:\n  - 1\n  - c: x\n"],
    ['yaml.marshal("text")', 'text\n'],
  ]);
});

describe('addresses', () => {
  testTable('net', [
    ['net.cidr_is_valid("10.0.0.0/8")', true],
    ['net.cidr_is_valid("10.0.0.0/33")', false],
    ['net.cidr_is_valid("2001:db8::/32")', true],
    ['net.cidr_is_valid("010.0.0.0/8")', false],
    ['net.cidr_is_valid("10.0.0.1")', false],
    ['net.cidr_contains_matches("1.1.1.0/24", "1.1.1.128")', [['1.1.1.0/24', '1.1.1.128']]],
    [
      'sort(net.cidr_contains_matches(["1.1.1.0/24", "1.1.2.0/24"], {"x": "1.1.1.128/25", "y": ["1.1.2.3", "z"]}))',
      [
        [0, 'x'],
        [1, 'y'],
      ],
    ],
    ['net.cidr_contains_matches({["1.1.0.0/16", "foo"]}, "1.1.1.1")', [[['1.1.0.0/16', 'foo'], '1.1.1.1']]],
    ['net.cidr_contains_matches("1.1.1.0/24", "x")', undefined],
    ['sort(net.cidr_expand("192.168.0.5/30"))', ['192.168.0.4', '192.168.0.5', '192.168.0.6', '192.168.0.7']],
    ['sort(net.cidr_expand("2001:db8::/127"))', ['2001:db8::', '2001:db8::1']],
    ['net.cidr_merge(["192.0.128.0/24", "192.0.129.0/24"])', ['192.0.128.0/23']],
    [
      'sort(net.cidr_merge({"10.0.0.0/8", "10.1.0.0/16", "11.0.0.0/9", "2001:db8::/33", "2001:db8:8000::/33"}))',
      ['10.0.0.0/8', '11.0.0.0/9', '2001:db8::/32'],
    ],
    ['net.cidr_is_valid("::ffff:1.2.3.4/33")', true],
    ['net.cidr_merge(["::ffff:1.2.3.4/104", "10.1.2.3"])', ['1.0.0.0/8', '10.1.2.3/8']],
    ['net.cidr_merge(["::/0", "192.0.2.0/24"])', ['::/0']],
    ['net.cidr_merge(["x"])', undefined],
  ]);
  testTable('uri', [
    [
      'uri.parse("HTTPS://user:pw@example.com:8080/a%20b/c?x=1&y=2#frag%21")',
      {
        fragment: 'frag!',
        hostname: 'example.com',
        path: '/a b/c',
        port: '8080',
        raw_path: '/a b/c',
        raw_query: 'x=1&y=2',
        scheme: 'https',
      },
    ],
    [
      'uri.parse("http://[::1]:80/a%2Fb")',
      { hostname: '::1', path: '/a/b', port: '80', raw_path: '/a%2Fb', scheme: 'http' },
    ],
    ['uri.parse("mailto:a@b.c")', { scheme: 'mailto' }],
    ['uri.parse("/é!*%41")', { path: '/é!*A', raw_path: '/é!*%41' }],
    ['uri.parse("/%C3%A9%21%2A")', { path: '/é!*', raw_path: '/é!*' }],
    ['uri.parse("/a/b:c")', { path: '/a/b:c', raw_path: '/a/b:c' }],
    ['uri.parse("http://a:port/")', undefined],
    ['uri.parse("a:b/c:d")', { scheme: 'a' }],
    ['uri.is_valid("http://example.com/%zz")', false],
    ['uri.is_valid("")', false],
    ['uri.is_valid("1:2")', false],
    ['uri.is_valid("//host/path")', true],
  ]);
});

describe('time', () => {
  testTable('instants are exact', [
    ['time.now_ns()', exactly('1700000000123456789')],
    ['time.parse_rfc3339_ns("2023-11-14T22:13:20.123456789Z")', exactly('1700000000123456789')],
    ['time.parse_rfc3339_ns("1677-09-21T00:12:43.145224192Z")', exactly('-9223372036854775808')],
    ['time.parse_rfc3339_ns("1600-01-01T00:00:00Z")', undefined],
    ['time.parse_rfc3339_ns("2023-11-14T22:13:20+05:30")', exactly('1699980200000000000')],
    ['time.parse_rfc3339_ns("2023-02-30T00:00:00Z")', undefined],
    ['time.parse_ns("2006-01-02", "2023-11-14")', exactly('1699920000000000000')],
    ['time.parse_ns("RFC1123Z", "Tue, 14 Nov 2023 22:13:20 +0100")', exactly('1699996400000000000')],
    ['time.parse_ns("Jan _2 15:04:05.000 2006", "Nov  4 22:13:20.250 2023")', exactly('1699136000250000000')],
    ['time.parse_ns("3:04PM 2006-002", "10:13PM 2023-318")', exactly('1699999980000000000')],
    ['time.parse_ns("RFC1123", "Tue, 14 Nov 2023 22:13:20 GMT+3")', exactly('1700000000000000000')],
    ['time.parse_ns("2006-01-02", "2023-11-14x")', undefined],
    ['time.parse_duration_ns("1h2m3.5s")', 3723500000000],
    ['time.parse_duration_ns("-1.5h")', -5400000000000],
    ['time.parse_duration_ns("2d4h")', 187200000000000],
    ['time.parse_duration_ns("1µs2ns")', 1002],
    ['time.parse_duration_ns("1x")', undefined],
    ['time.parse_duration_ns("300y")', undefined],
  ]);
  testTable('calendar fields in a zone', [
    ['time.date(1700000000123456789)', [2023, 11, 14]],
    ['time.clock([1700000000123456789, "Europe/Berlin"])', [23, 13, 20]],
    ['time.clock([1700000000123456789, "Asia/Kolkata"])', [3, 43, 20]],
    ['time.weekday([1700000000123456789, "Asia/Tokyo"])', 'Wednesday'],
    ['time.date(-1)', [1969, 12, 31]],
    ['time.clock([1, "Nowhere/City"])', undefined],
    ['time.date(json.unmarshal(`"x"`))', undefined],
    ['time.format(1700000000123456789)', '2023-11-14T22:13:20.123456789Z'],
    ['time.format([1700000000123456789, "America/New_York"])', '2023-11-14T17:13:20.123456789-05:00'],
    ['time.format([1700000000123456789, "America/New_York", "RFC1123"])', 'Tue, 14 Nov 2023 17:13:20 EST'],
    [
      'time.format([1700000000123456789, "Europe/Berlin", "Mon Jan _2 3:04:05.000pm 06 MST -07 002"])',
      'Tue Nov 14 11:13:20.123pm 23 CET +01 318',
    ],
    ['time.format([1700000000123456789, "UTC", "Monthly 2006, .99 ,9"])', 'Monthly 2023, .12 ,1'],
  ]);
  testTable('arithmetic', [
    ['time.add_date(1700000000123456789, 0, 3, 20)', exactly('1709676800123456789')],
    ['time.add_date(1706659200000000000, 0, 1, 0)', exactly('1709337600000000000')],
    [
      'time.add_date(json.unmarshal(`[1711756800000000000, "Europe/Berlin"]`), 0, 0, 1)',
      exactly('1711843200000000000'),
    ],
    ['time.add_date(1, 10000, 0, 0)', undefined],
    ['time.diff(1700000000123456789, 1500000000000000000)', [6, 4, 0, 19, 33, 20]],
    ['time.diff([1710000000000000000, "Europe/Berlin"], [1700000000000000000, "UTC"])', [0, 3, 24, 17, 46, 40]],
  ]);
});
