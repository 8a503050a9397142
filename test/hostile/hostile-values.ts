/** The one list of what is sent where something else is expected. Values are JSON texts: not all survive being values here. */

/** Stands in fields that a route does not have, or not for what is asked: it may be shown nowhere and kept nowhere. */
export const UNKNOWN_CANARY = 'canary-unknown-5e1d'
/** Stands in bank details and notices: for requester, agent or manager and operators alone, and in clear in no table. */
export const SECRET_CANARY = 'canary-secret-5e1d'

const numbers = [
  ['0', '-0', '-1', '0.5', '1.0', '1e0', '1E2', '1e400', '-1e400', '1e-400', '0.1e1', '1e21'],
  ['9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740993', '9223372036854775808'],
  ['18446744073709551616', '123456789012345678901234567890', '1.7976931348623157e308'],
  ['9'.repeat(400), `1${'0'.repeat(400)}`, `0.${'0'.repeat(400)}1`],
].flat()

/** Texts in every form that a database, a parser, a template or a screen may stumble over. */
const texts = [
  ['', ' ', '0', '1', '01', '+1', '1e3', '0x10', '1.290', 'NaN', 'Infinity', 'true', 'null', 'a'],
  ['\u0000', 'a\u0000b', '\ud800', 'a\ud800', '\udfff\ud800', '\udc00a', 'a\u001bb', 'a\u0085b', 'a\u007fb'],
  [
    'a\nb',
    'a\tb',
    '\u202eevil',
    'a\u2068b\u2069',
    '\ufeff',
    '\u00a0\u3000',
    '\u200b\u2060\u00ad',
    'a\u2028b',
    'Cafe\u0301',
    '\u1112\u1161\u11ab',
  ],
  [`a${'\u0301\u0323'.repeat(200)}`, '😀'.repeat(200), '👩‍👩‍👧'.repeat(20), '١٢٣', '１２３'],
  ['../../etc/passwd', '%00', '%2e%2e%2f', "'; drop table ledger_events; --", '" or 1=1 --', '{"$gt":""}'],
  // oxlint-disable-next-line no-template-curly-in-string -- meant for templates that are not ours
  ['${7*7}', '{{7*7}}', '<script>alert(1)</script>', '=1+1', '\r\nX-Injected: 1'],
  ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'user:2:diamonds', 'house:gifts:diamonds'],
  ['x'.repeat(100), 'x'.repeat(101), 'x'.repeat(500), 'x'.repeat(501), 'x'.repeat(5_000), 'x'.repeat(60_000)],
  '\u0627'.repeat(30_000),
].flat()

const nested = (depth: number): string => `${'{"a":['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`

const others = [
  ['null', 'true', 'false', '[]', '{}', '[[]]', '[null]', '[1,1]', '[1,"2",null,{}]', '["__proto__"]'],
  ['{"a":{"b":1}}', '{"length":1}', '{"toString":1}', '{"valueOf":1,"toJSON":1}', '{"$ne":null}'],
  '{"__proto__":{"a":1},"constructor":{"prototype":{}}}',
  `[${Array.from({ length: 101 }, (_, i) => i + 1).join()}]`,
  `[${Array.from({ length: 2_000 }, (_, i) => i + 1).join()}]`,
  `[${'{},'.repeat(1_999)}{}]`,
  [nested(50), nested(2_000), `${'['.repeat(50)}${']'.repeat(50)}`, `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`],
].flat()

/** For any field: of another type, too large, too deep, not exact. */
export const hostileValues: readonly string[] = [...numbers, ...texts.map((text) => JSON.stringify(text)), ...others]

/** For fields that must be ignored: each names itself, so that it is found wherever it is kept. */
export const ignoredValues: readonly string[] = [
  ...hostileValues,
  JSON.stringify(UNKNOWN_CANARY),
  JSON.stringify(UNKNOWN_CANARY.repeat(3_000)),
  JSON.stringify([UNKNOWN_CANARY]),
  JSON.stringify({ bank_name: UNKNOWN_CANARY, account_name: UNKNOWN_CANARY, account_number: UNKNOWN_CANARY }),
]

/** Names that no route takes in its body, some of which it would be bad to take. */
export const unknownNames = ['unknown', 'id', 'status', 'role', 'actor', 'balance', 'created_at', 'sealed', '__proto__']

/** Bodies that are no JSON, or JSON of a kind that libraries do not make. */
export const rawBodies: readonly Buffer[] = [
  ['', ' ', '{', '}', '{}{}', '[]', '""', '0', 'null', 'undefined', 'NaN', "{'a':1}", '{a:1}', '{"a":1,}'],
  ['{"a":01}', '{"a":+1}', '{"a":.5}', '{"a":0x1}', '{"a":1}//', '/*{"a":1}*/', '{"a":"\u0000"}', '{"a":"\t"}'],
  ['{"a":"\\x41"}', '{"a":"\\ud800"}', '\ufeff{}', '{}\u0000'],
  '['.repeat(30_000),
  `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
  `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  `{"a":"${'x'.repeat(65_000)}"}`,
  `{"a":"${'x'.repeat(70_000)}"}`,
  `[${'1,'.repeat(30_000)}1]`,
  `{${Array.from({ length: 5_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
  Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
  Buffer.from('{"a":"\xe9"}', 'latin1'),
  Buffer.from([0x7b, 0xc0, 0xaf, 0x7d]),
  Buffer.from('{"a":1}', 'utf16le'),
  Buffer.from('1f8b0800000000000003ab560200', 'hex'),
]
  .flat()
  .map((body) => Buffer.from(body))

/** Media types: a good one, some that mean the same, and others. */
export const mediaTypes = [
  ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json; charset=utf-16'],
  ['application/json; charset=latin1', 'application/json; charset=', 'application/json;;;'],
  ['application/json, application/json', 'application/merge-patch+json', 'application/x-www-form-urlencoded'],
  ['multipart/form-data; boundary=x', 'text/plain', 'text/html', 'json', '/', '*/*', 'application/\u00e9', ''],
  `application/${'x'.repeat(2_000)}`,
].flat()

/** In place of an id or a name in a path. */
export const hostileNames = [
  ['0', '-1', '1.0', '01', '1e3', '9007199254740992', '99999999999999999999', '9'.repeat(30)],
  ['%00', 'R1%00', '%ff', '%c0%af', '%ed%a0%80', '%e2%80%ae', '%2e%2e', '%2F', '%252e', '%', '..', '.', '*', '~'],
  ["'", '1;2', '1,2', '1%0d%0aX-Injected:%201', '__proto__', 'constructor', 'x'.repeat(300), 'x'.repeat(5_000)],
].flat()

export const hostileQueries = [
  ['limit=0', 'limit=201', 'limit=-1', 'limit=1e2', 'limit=5&limit=6', 'limit[]=5', 'limit[a]=5', 'limit=%00'],
  ['limit=%ff', 'limit=%', 'cursor=%2e', 'cursor=AAAA', 'cursor=MQ', 'cursor=OTAwNzE5OTI1NDc0MDk5Mg', '&&&===', '?'],
  ['#', `cursor=${'A'.repeat(201)}`, '__proto__[limit]=5&constructor.prototype.limit=5'],
  [`${'a=1&'.repeat(2_000)}b=2`, `x=${'y'.repeat(8_000)}`],
].flat()

type Header = readonly [name: string, value: string]

/** The headers of a request each, in lines. */
export const hostileHeaders: readonly (readonly Header[])[] = [
  ['', 'x'.repeat(256), 'caf\u00e9', 'a\tb', 'one\nIdempotency-Key: two'].map((key) => `Idempotency-Key: ${key}`),
  ['X-Request-Id: mine', 'X-HTTP-Method-Override: DELETE', 'X-Forwarded-For: 127.0.0.1', 'Range: bytes=0-0,-1'],
  ['X-Forwarded-Host: evil.example', 'X-Original-URL: /admin/v1/users', 'Accept: text/html', 'If-None-Match: *'],
  ['Accept: application/xml;q=\u00e9', 'Accept-Encoding: gzip, br', 'Content-Encoding: gzip', 'Origin: null'],
  ['Cookie: __proto__=1', 'Client-Type: android', `Client-Version: ${'9'.repeat(1_000)}`, '__proto__: x'],
  ['Connection: close, authorization', 'constructor: x', `${'X'.repeat(2_000)}: y`],
  Array.from({ length: 100 }, (_, i) => `X-${i}: y`).join('\n'),
]
  .flat()
  .map((lines) => lines.split('\n').map(headerOf))

function headerOf(line: string): Header {
  const colon = line.indexOf(': ')
  return [line.slice(0, colon), line.slice(colon + 2)]
}
