import { Type } from '@sinclair/typebox'

/** What was typed into a form, by the name of its field; an empty text where nothing was. */
export type Values = Readonly<Record<string, string>>

/** Longer than any field may be, so that its own limit is what is reported. */
const MAX_VALUE_LENGTH = 2_000

const valueSchema = Type.Optional(Type.String({ maxLength: MAX_VALUE_LENGTH }))

/** The schema of fields in a query or a form. */
export const valuesSchema = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, valueSchema]))

/** The values of a query or a form. Browsers send line breaks with a carriage return, which no text may hold. */
export const readValues = (names: readonly string[], sent: Readonly<Record<string, unknown>>): Values =>
  Object.fromEntries(
    names.map((name) => {
      const value = sent[name]
      return [name, typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '']
    }),
  )

/** As `readValues`, without the fields that were not sent. */
export const readSentValues = (names: readonly string[], sent: Readonly<Record<string, unknown>>): Values =>
  readValues(
    names.filter((name) => sent[name] !== undefined),
    sent,
  )

/** A whole number of a form, for a body in JSON; other text stays, for the route to refuse. An empty one is absent. */
export const numberIn = (text = ''): number | string | undefined => {
  if (text === '') return undefined
  return /^-?\d{1,16}$/.test(text) ? Number(text) : text
}

/** An empty text is absent: the route keeps what there is. */
export const textIn = (text = ''): string | undefined => (text === '' ? undefined : text)
