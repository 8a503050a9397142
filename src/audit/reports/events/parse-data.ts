/** The data of an event; null for data that is no object: somebody tampered with it, and the event is shown for that reason. */
export function parseData(data: string): object | null {
  try {
    const fields: unknown = JSON.parse(data)
    return typeof fields === 'object' ? fields : null
  } catch {
    return null
  }
}
