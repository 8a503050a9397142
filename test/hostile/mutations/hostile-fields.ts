import { SECRET_CANARY, UNKNOWN_CANARY } from '../attack-run/canaries.ts'

/** A value as JSON text: not all of these survive being a value here. */
export interface HostileField {
  readonly name: string
  readonly json: string
}

const text = (value: string): string => JSON.stringify(value)
const field = (name: string, json: string): HostileField => ({ name, json })

/** For any field: of another type, too large, too deep, and texts in every form that a database or a screen may stumble over. */
export const hostileFields: readonly HostileField[] = [
  field('null', 'null'),
  field('true', 'true'),
  field('an empty object', '{}'),
  field('an object', '{"a":{"b":1}}'),
  field('an empty array', '[]'),
  field('an array', '[1,"2",null,{}]'),
  field('2,000 objects', `[${'{},'.repeat(1_999)}{}]`),
  field('an empty text', '""'),
  field('a blank', '" "'),
  field('a short text', '"a"'),
  field('text at its longest', text('x'.repeat(500))),
  field('text that is too long', text('x'.repeat(501))),
  field('100 emoji', text('👩‍👩‍👧'.repeat(20))),
  field('60 KB of text', text('x'.repeat(60_000))),
  field('60 KB of Arabic', text('\u0627'.repeat(30_000))),
  field('a NUL', '"a\\u0000b"'),
  field('a lone high surrogate', '"a\\ud800"'),
  field('a lone low surrogate', '"\\udc00a"'),
  field('a C0 control', '"a\\u001bb"'),
  field('a C1 control', text('a\u0085b')),
  field('a delete character', text('a\u007fb')),
  field('a line break', '"a\\nb"'),
  field('a tabulator', '"a\\tb"'),
  field('a mark of direction', text('a\u202eb')),
  field('balanced isolates', text('a\u2068b\u2069')),
  field('decomposed text', text('Cafe\u0301')),
  field('Hangul in parts', text('\u1112\u1161\u11ab')),
  field('many combining marks', text(`a${'\u0301\u0323'.repeat(200)}`)),
  field('a line separator', text('a\u2028b')),
  field('markup', text('<script>alert(1)</script>')),
  field('a formula', text('=1+1')),
  field('zero', '0'),
  field('a negative number', '-1'),
  field('a fraction', '0.5'),
  field('a number beyond exact ones', '9007199254740993'),
  field('a number beyond 64 bits', '18446744073709551616'),
  field('an endless number', '1e400'),
  field('a number of 400 digits', '9'.repeat(400)),
  field('a number as text', '"1"'),
  field('50 levels', `${'['.repeat(50)}${']'.repeat(50)}`),
  field('5,000 levels', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`),
  field('a prototype', '{"__proto__":{"a":1},"constructor":{"prototype":{}}}'),
]

/** For fields that are to be ignored: each names itself, so that it is found wherever it is kept. */
export const ignoredFields: readonly HostileField[] = [
  ...hostileFields,
  field('a text that tells', text(UNKNOWN_CANARY)),
  field('60 KB that tell', text(UNKNOWN_CANARY.repeat(3_000))),
  field('an array that tells', `[${text(UNKNOWN_CANARY)}]`),
  field('bank details that tell', bankDetails(UNKNOWN_CANARY)),
]

export function bankDetails(canary: string = SECRET_CANARY): string {
  return JSON.stringify({ bank_name: canary, account_name: canary, account_number: canary })
}
