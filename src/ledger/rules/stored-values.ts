import { sha256 } from './hash.ts'

/** Whether a row has all these values already, so that setting them again changes nothing. */
export const hasValues = (row: object, values: object): boolean =>
  Object.entries(values).every(([field, value]) => isEqual(Reflect.get(row, field), value))

/** Compares by value. The order of fields does not matter: JSON from the database may have another one. */
function isEqual(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b)) return a === b
  return Object.keys(a).length === Object.keys(b).length && hasValues(a, b)
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** The version that a command expects to be stored, as its sender has read it; null: nothing is stored yet. */
export type ExpectedVersion = string | null

/** Whether what is stored is what a command expects; one that expects nothing takes whatever there is. */
export const isExpected = <Row>(
  expected: ExpectedVersion | undefined,
  row: Row | undefined,
  versionOf: (row: Row) => string,
): boolean => expected === undefined || expected === (row === undefined ? null : versionOf(row))

/** The same for the same values: JSON from the database may have its fields in another order. */
export const versionOfValues = (values: object): string => sha256(JSON.stringify(values, sortFields))

const sortFields = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value
