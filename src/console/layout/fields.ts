import { Type } from '@sinclair/typebox'
import type { Table } from '../lists/list.ts'
import { type Cell, statusCell, textCell } from './cells.ts'

/** A field of a form, as `/layout/form.eta` shows it. */
export interface FormField {
  /** As the route of /admin/v1 calls it, so that its errors stand next to the field. */
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly control: Control
}

/** A field of a form that changes something that is stored. */
export interface Field<Row> extends FormField {
  /** Fields of one group are sent together: the route sets them as one. */
  readonly group?: string
  /** What the form begins with. */
  readonly valueOf: (row: Row) => string
  /** What the form of a new one begins with; without it nothing, or the first choice. */
  readonly valueOfNew?: string
}

type Control =
  | {
      readonly kind: 'line' | 'lines'
      readonly maxLength: number
      readonly isRequired?: boolean
      readonly language?: 'ar'
    }
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  /** Values with what people read. */
  | {
      readonly kind: 'choice'
      readonly options: readonly (readonly [string, string])[]
      readonly isRequired?: boolean
    }

interface LineOptions {
  readonly hint?: string
  readonly isRequired?: true
  readonly language?: 'ar'
  readonly kind?: 'line' | 'lines'
  readonly group?: string
  readonly valueOfNew?: string
}

/** A field of which one value is chosen, and one for a line of text, that must not be left empty. */
export const requiredChoice = (
  name: string,
  label: string,
  options: readonly (readonly [string, string])[],
  hint?: string,
): FormField => ({
  name,
  label,
  ...(hint === undefined ? {} : { hint }),
  control: { kind: 'choice', isRequired: true, options },
})

export const requiredLine = (name: string, label: string, maxLength: number, hint: string): FormField => ({
  name,
  label,
  hint,
  control: { kind: 'line', maxLength, isRequired: true },
})

/** A field for a text: of one line, unless its kind is `lines`. */
export const lineField = <Row>(
  name: string,
  label: string,
  maxLength: number,
  valueOf: (row: Row) => string,
  { isRequired, language, kind = 'line', ...options }: LineOptions = {},
): Field<Row> => ({
  name,
  label,
  valueOf,
  ...options,
  control: { kind, maxLength, ...(isRequired && { isRequired }), ...(language && { language }) },
})

/** A field for a whole number. */
export const numberField = <Row>(
  name: string,
  label: string,
  [min, max]: readonly [min: number, max: number],
  valueOf: (row: Row) => number,
  hint?: string,
): Field<Row> => ({
  name,
  label,
  ...(hint === undefined ? {} : { hint }),
  control: { kind: 'number', min, max },
  valueOf: (row) => String(valueOf(row)),
})

export const valuesOf = <Row>(fields: readonly Field<Row>[], row: Row | undefined): Values =>
  Object.fromEntries(
    fields.map(({ name, valueOf, valueOfNew, control }) => [
      name,
      row === undefined ? (valueOfNew ?? firstValue(control)) : valueOf(row),
    ]),
  )

const firstValue = (control: Control): string => (control.kind === 'choice' ? (control.options[0]?.[0] ?? '') : '')

/** Fields that may not be empty, and are: they would keep what is stored, which is not what the form shows. */
export const emptyFields = (fields: readonly FormField[], values: Values): readonly string[] =>
  fields
    .filter(({ name, control }) => isRequired(control) && (values[name] ?? '').trim() === '')
    .map(({ label }) => `${label}: this must not be empty.`)

const isRequired = (control: Control): boolean => control.kind === 'number' || control.isRequired === true

/** The values that change something, with those of their groups; of a new thing, all. */
export function changedValues<Row>(fields: readonly Field<Row>[], row: Row | undefined, values: Values): Values {
  const isChanged = ({ name, valueOf }: Field<Row>) => row === undefined || valueOf(row) !== (values[name] ?? '')
  const changed = fields.filter(isChanged)
  const groups = new Set(changed.map(({ name, group = name }) => group))
  const sent = fields.filter(({ name, group = name }) => groups.has(group))
  return Object.fromEntries(sent.map(({ name }) => [name, values[name] ?? '']))
}

/** What would change, from what to what; of a new thing, everything. */
export function changesTable<Row>(fields: readonly Field<Row>[], row: Row | undefined, values: Values): Table {
  const rows = fields.flatMap(({ label, name, control, valueOf }): Cell[][] => {
    const after = values[name] ?? ''
    if (row === undefined) return [[textCell(label), shownValue(control, after)]]
    const before = valueOf(row)
    return before === after ? [] : [[textCell(label), shownValue(control, before), shownValue(control, after)]]
  })
  const titles = row === undefined ? ['Field', 'Value'] : ['Field', 'Now', 'New']
  return {
    label: 'Changes',
    empty: 'None of these fields would change.',
    columns: titles.map((title) => ({ title, isNumber: false })),
    rows,
  }
}

const shownValue = (control: Control, value: string): Cell => {
  if (control.kind !== 'choice') return textCell(value)
  return statusCell(control.options.find(([option]) => option === value)?.[1] ?? value)
}

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
