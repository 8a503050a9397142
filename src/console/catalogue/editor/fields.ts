import { Type } from '@sinclair/typebox'
import { givenName, type StoredName } from '../../../language/names.ts'
import { type Cell, statusCell, textCell } from '../../frame/cells/cells.ts'
import type { Table } from '../../lists/list.ts'

/** What was typed into a form, by the name of its field; an empty text where nothing was. */
export type Values = Readonly<Record<string, string>>

/** A field of a form that changes something of the catalogue. */
export interface Field<Row> {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly control: Control
  /** Fields of one group are sent together: the route sets them as one. */
  readonly group?: string
  /** What the form begins with. */
  readonly valueOf: (row: Row) => string
  /** What the form of a new one begins with; without it nothing, or the first choice. */
  readonly valueOfNew?: string
}

export type Control =
  | {
      readonly kind: 'line' | 'lines'
      readonly maxLength: number
      readonly isRequired?: boolean
      readonly language?: 'ar'
    }
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  /** Values with what people read. */
  | { readonly kind: 'choice'; readonly options: readonly (readonly [string, string])[] }

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

export const valuesOf = <Row>(fields: readonly Field<Row>[], row: Row | undefined): Values =>
  Object.fromEntries(
    fields.map(({ name, valueOf, valueOfNew, control }) => [
      name,
      row === undefined ? (valueOfNew ?? firstValue(control)) : valueOf(row),
    ]),
  )

const firstValue = (control: Control): string => (control.kind === 'choice' ? (control.options[0]?.[0] ?? '') : '')

/** A number of a form; text that is none stays, for the route to refuse. An empty one is absent. */
export const numberIn = (text = ''): number | string | undefined => {
  if (text === '') return undefined
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** An empty text is absent: the route keeps what there is. */
export const textIn = (text = ''): string | undefined => (text === '' ? undefined : text)

/** The fields of a name in one language or two. */
export const nameFields: readonly Field<StoredName>[] = [
  {
    name: 'name',
    label: 'Name',
    group: 'name',
    control: { kind: 'line', maxLength: 100, isRequired: true },
    valueOf: ({ name }) => name,
  },
  {
    name: 'name_ar',
    label: 'Name in Arabic',
    group: 'name',
    hint: 'Left empty, the first name is shown in both languages.',
    control: { kind: 'line', maxLength: 100, language: 'ar' },
    valueOf: ({ name_ar }) => name_ar ?? '',
  },
]

/** The name of a body of /admin/v1. */
export const nameIn = ({ name = '', name_ar = '' }: Values) =>
  name === '' ? undefined : givenName({ name, name_ar: name_ar === '' ? null : name_ar })

/** Fields that may not be empty, and are: they would keep what is stored, which is not what the form shows. */
export const emptyFields = (fields: readonly Omit<Field<never>, 'valueOf'>[], values: Values): readonly string[] =>
  fields
    .filter(({ name, control }) => isRequired(control) && (values[name] ?? '').trim() === '')
    .map(({ label }) => `${label}: this must not be empty.`)

const isRequired = (control: Control): boolean =>
  control.kind === 'number' || (control.kind !== 'choice' && control.isRequired === true)

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
