/** Whether a row has all these values already, so that setting them again changes nothing. */
export const hasValues = (row: object, values: object): boolean =>
  Object.entries(values).every(([field, value]) => isEqual(Reflect.get(row, field), value))

/** Compares by value. The order of fields does not matter: JSON from the database may have another one. */
function isEqual(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b)) return a === b
  return Object.keys(a).length === Object.keys(b).length && hasValues(a, b)
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
