import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { arabicForm } from './languages.ts'
import { documentedAs, named } from './named.ts'

/** What accounts can hold: coins, diamonds and points in ones, dollars in cents. */
export const currencies = ['coins', 'diamonds', 'target', 'dollars', 'agent_dollars'] as const

export const CurrencyName = named(
  'CurrencyName',
  Type.Union(
    [
      Type.Literal('coins'),
      Type.Literal('diamonds'),
      Type.Literal('target'),
      Type.Literal('dollars'),
      Type.Literal('agent_dollars'),
    ],
    {
      description: 'coins, diamonds, target, dollars or agent_dollars',
      ...arabicForm('coins أو diamonds أو target أو dollars أو agent_dollars'),
    },
  ),
)

/**
 * An account's name, `<kind>:<id>:<currency>`. The ledger accepts no other form: the hashed text separates accounts by
 * blanks and semicolons, so that with one in a name two movements could hash like one.
 */
export const ACCOUNT_PATTERN = `^((user|debt|room|game|withdrawal|settled):[1-9][0-9]{0,15}|(house|issuance):[a-z_-]{1,64}|(purchases):[a-z0-9-]{1,32}):(${currencies.join('|')})$`

/** What approvals are limited by: value by currency, privilege cards by their number, gifts in bags by their price. */
export const limitNames = [...currencies, 'cards', 'bag'] as const

/** The largest amount, price or balance that is stored and answered: 2^53-1. */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER

/** Ids are positive integers; ids of new things are positions of the ledger. */
export const Id = Type.Integer({ minimum: 1, maximum: MAX_INTEGER })

/** An id in a path. Read with `idInPath`: text that cannot be an id names nothing, and is answered with 404. */
export const PathId = documentedAs(Type.String(), Id)

export const IdParams = Type.Object({ id: PathId })

/** A whole number of coins, diamonds or points; of dollars it is the cents. */
export const Amount = Type.Integer({ minimum: 0, maximum: MAX_INTEGER })

/** Dollars in responses: a JSON number with exact cents, which a double may not have. */
export const Dollars = Type.Unsafe<{ readonly rawJSON: string }>(
  Type.Number({ minimum: 0, description: 'Dollars, exact to the cent' }),
)

/**
 * Ajv's keyword for the form of text (http/validation/validators.ts): NFC, with balanced isolates, and `visible` or `any`:
 * whether something in it must be visible, as in every text that is kept and required.
 */
export const TEXT_FORM = 'x-text-form'

/** Whether anything can be seen: blanks, such as Braille's, and characters that fonts do not draw say nothing. */
export const isVisible = (text: string): boolean =>
  /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(text)

/** Lone surrogates, and the embeddings and overrides that could reorder the text around them. */
const NEVER_IN_TEXT = '\\ud800-\\udfff\\u202a-\\u202e'

/**
 * One line of text that may be stored: in NFC, without control characters, lone surrogates and directional overrides.
 * The pattern is read with the `u` flag, so that pairs of surrogates pass.
 */
export const Text = (maxLength: number, minLength = 0) =>
  Type.String({
    [TEXT_FORM]: minLength > 0 ? 'visible' : 'any',
    minLength,
    maxLength,
    pattern: `^[^\\u0000-\\u001f\\u007f-\\u009f${NEVER_IN_TEXT}]*$`,
  })

/** As `Text`, with line breaks: notes, notices and messages. */
export const Prose = (maxLength: number, minLength = 0) =>
  Type.String({
    [TEXT_FORM]: minLength > 0 ? 'visible' : 'any',
    minLength,
    maxLength,
    pattern: `^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f${NEVER_IN_TEXT}]*$`,
  })

/** The name of a thing, for every language or for each; `pickName` drops what else it has. */
export const Name = Type.Union([Text(100, 1), Type.Object({ en: Text(100, 1), ar: Text(100, 1) })], {
  title: 'a name, or an object with the names en and ar',
  ...arabicForm('اسمًا، أو كائنًا فيه الاسمان en وar'),
})

/** A name as it was sent, without unknown fields. */
export const pickName = (name: Static<typeof Name> | undefined): Static<typeof Name> | undefined =>
  typeof name === 'object' ? { en: name.en, ar: name.ar } : name

/** Where a picture is stored. Short, because catalogues are sent whole. */
export const PicturePath = Text(200)

/** true/false, 1/0, "1"/"0", "true"/"false"; read with `isOn`. */
export const Flag = named(
  'Flag',
  Type.Union(
    [
      Type.Boolean(),
      Type.Literal(0),
      Type.Literal(1),
      Type.Literal('0'),
      Type.Literal('1'),
      Type.Literal('true'),
      Type.Literal('false'),
    ],
    {
      title: 'true/false, 1/0, "1"/"0" or "true"/"false"',
      ...arabicForm('true/false أو 1/0 أو "1"/"0" أو "true"/"false"'),
    },
  ),
)
export type Flag = Static<typeof Flag>

export function isOn(flag: Flag | undefined): boolean {
  return flag === true || flag === 1 || flag === '1' || flag === 'true'
}

/** A flag of the user record in responses. */
export const Bit = named('Bit', Type.Union([Type.Literal(0), Type.Literal(1)]))
export const bit = (on: boolean): 0 | 1 => (on ? 1 : 0)

/** ISO 8601, UTC, microseconds: `2026-11-21T08:00:00.000000Z`. Ajv and TypeBox know no formats. */
export const Instant = documentedAs(
  Type.String({ description: 'ISO 8601, UTC, microseconds' }),
  Type.String({ format: 'date-time' }),
)

/** `2026-11-21 08:00:00`, UTC. */
export const Seconds = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$',
  description: 'YYYY-MM-DD HH:MM:SS, UTC',
})

export const PageMeta = named('PageMeta', Type.Object({ next_cursor: Type.Union([Type.String(), Type.Null()]) }))

export const dataOf = <T extends TSchema>(data: T) => Type.Object({ data })
export const pageOf = <T extends TSchema>(item: T) => Type.Object({ data: Type.Array(item), meta: PageMeta })

/** Query of a paged list. Query values are text; `page()` in http/pages.ts reads them. */
export const PageQuery = Type.Object({
  limit: Type.Optional(
    documentedAs(
      Type.String({
        pattern: '^([1-9][0-9]?|1[0-9][0-9]|200)$',
        description: '1 to 200, default 50',
        ...arabicForm('من 1 إلى 200، وهي 50 إن لم تُحدَّد'),
      }),
      Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
    ),
  ),
  cursor: Type.Optional(
    documentedAs(
      Type.String({ maxLength: 200, pattern: '^[0-9A-Za-z_-]+$' }),
      Type.String({ maxLength: 200, description: 'next_cursor of the page before' }),
    ),
  ),
})
export type PageQuery = Static<typeof PageQuery>

/** Every error's body. `code` is for programs, `message` for people. */
export const ErrorBody = named(
  'ErrorBody',
  Type.Object({
    message: Type.String({ description: 'for people, in the language of the request' }),
    code: Type.String({ description: 'for programs; stable. /docs/codes says what each means and what to show' }),
    errors: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), { description: 'Sentences for people, by field' }),
    ),
    request_id: Type.String({ description: 'for reports to the operator' }),
  }),
)
export type ErrorBody = Static<typeof ErrorBody>

export const Person = Type.Object({
  id: Id,
  name: Type.String(),
  avatar: Type.String(),
  uid: Type.String(),
})
export type Person = Static<typeof Person>

/** A person in REST answers. */
export const PersonResource = named(
  'Person',
  Type.Object({
    ...Person.properties,
    avatar_url: Type.String({ description: "the avatar's address; empty without one" }),
  }),
  'A user as others see them: id, name, uid and picture',
)
export type PersonResource = Static<typeof PersonResource>

/** The word of a search for users or rooms; every character is meant literally. */
export const SearchWord = {
  ...Text(64),
  minLength: 1,
  description:
    'a uid, or the beginning of a name; 1 to 64 characters, by folded letters (`İ` is `i`, `ß` is `ss`). A single character finds a uid only',
}

const MIN_NAME_CHARACTERS = 2

/** Whether a word is long enough to be looked for in names; a shorter one is a uid only. */
export const isNameWord = (word: string): boolean => Array.from(word).length >= MIN_NAME_CHARACTERS

/** Names one life of the ledger: 16 random bytes, made when the ledger begins and whenever commits were lost. */
export const Incarnation = Type.String({
  pattern: '^[0-9a-f]{32}$',
  title: '32 of 0-9 a-f',
  ...arabicForm('32 حرفًا من 0-9 وa-f'),
  description: 'the life of the ledger that it belongs to: positions and ids may be used again in another one',
})
