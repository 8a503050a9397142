/** The id that a text is, in canonical digits; null for any other text, such as `007`. */
export function parseId(text: string): number | null {
  if (!/^[1-9][0-9]{0,15}$/.test(text)) return null
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : null
}
