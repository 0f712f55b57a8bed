import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { checkRows } from '../../server/core/db/rows.ts';
import { column, compileSql, identifier, sql } from '../../server/core/db/sql.ts';

describe('the sql tag', () => {
  test('makes every value a parameter', () => {
    const hostile = "x'; drop table accord.tenant; --";
    const { text, values } = compileSql(sql`select * from t where a = ${hostile} and b = ${1}`);
    expect(text).toBe('select * from t where a = $1 and b = $2');
    expect(values).toEqual([hostile, 1]);
  });
  test('splices fragments and numbers across them', () => {
    const where = sql`where a = ${1}`;
    const { text, values } = compileSql(sql`select ${2} ${where} and b = ${3}`);
    expect(text).toBe('select $1 where a = $2 and b = $3');
    expect(values).toEqual([2, 1, 3]);
  });
  test('tells a fragment from a value in the same place, and fragments from one another', () => {
    const around = (inner: unknown) => compileSql(sql`select ${inner} from ${2}`);
    const [value, one, other] = [around(1), around(sql`a`), around(sql`b, ${3}`)];
    expect([value.text, one.text, other.text]).toEqual([
      'select $1 from $2',
      'select a from $1',
      'select b, $1 from $2',
    ]);
    expect(around(identifier('c')).text).toBe('select "c" from $1');
    expect(around(identifier('d')).text).toBe('select "d" from $1');
    expect(other.values).toEqual([3, 2]);
    expect(around(4)).toEqual({ ...value, values: [4, 2] });
  });
  test('gives a list as one parameter, of one text whatever its length', () => {
    const of = (list: readonly (string | null)[]) => compileSql(sql`select ${column.texts(list, (one) => one)}`);
    expect(of(['a', 'b'])).toMatchObject({ text: 'select (select $1::text[])', values: ['{"a","b"}'] });
    expect(of([]).values).toEqual(['{}']);
    expect(of(['a"b', 'c\\d', 'e,{}', null, 'null', '']).values).toEqual(['{"a\\"b","c\\\\d","e,{}",null,"null",""}']);
    expect(of(['a', 'b']).name).toBe(of([null]).name);
    expect(compileSql(sql`${column.integers([7, 8], (one, i) => one + i)}`).values).toEqual(['{7,9}']);
  });
  test('quotes identifiers', () => {
    expect(compileSql(sql`select ${identifier('a"b')}`).text).toBe('select "a""b"');
  });
  test('names one text once, and other texts otherwise', () => {
    const name = compileSql(sql`select ${1}`).name;
    expect(compileSql(sql`select ${2}`).name).toBe(name);
    expect(compileSql(sql`select ${2}, 1`).name).not.toBe(name);
    expect(name.length).toBeLessThan(64); // Postgres truncates longer ones
  });
});

test('a row that does not fit its schema is an error that names the column', () => {
  const Row = Type.Object({ n: Type.Integer() });
  expect(checkRows(Row, [{ n: 1 }])).toEqual([{ n: 1 }]);
  expect(() => checkRows(Row, [{ n: 'one' }])).toThrow(/\/n/);
  expect(() => checkRows(Row, [{}])).toThrow(/n/);
});
