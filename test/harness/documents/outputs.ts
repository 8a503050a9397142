/** Texts that differ from run to run, and their replacements for a comparison of outputs. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uuid>'],
  [/\b[0-9a-f]{64}\b/g, '<hash>'],
  [/[\w+/]{43,}={1,2}/g, '<base64>'],
  [/\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d+)?Z?)?/g, '<time>'],
  [/\bg-(\d+)-[0-9a-z]{10}\b/g, 'g-$1-<uid>'],
  [/\b[\d.,]+ (ms|s|min)\b/g, '<time>'],
  // The winner of a roulette is random.
  [/\bwon by place [\d, ]+/g, 'won by place <winner>'],
  [/(\| game:\d+:coins +\| )user:\d+/g, '$1<winner>'],
]

/** The last line of an output that the document shortens. */
export const CUT = '…'

/** Whether the output matches the document, up to the cut. */
export function isShown(shown: readonly string[], output: string): boolean {
  const isCut = shown.at(-1) === CUT
  const expected = comparable((isCut ? shown.slice(0, -1) : shown).join('\n'))
  const actual = comparable(output)
  return isCut ? `${actual}\n`.startsWith(`${expected}\n`) : actual === expected
}

/** An output with all texts replaced that differ from run to run. */
export function comparable(output: string): string {
  const text = VOLATILE.reduce((rest, [pattern, name]) => rest.replaceAll(pattern, name), output.trimEnd())
  // The winner of a game is random: only the fields are compared.
  return text.includes('"server_seed":') ? JSON.stringify(shapeOf(JSON.parse(text))) : text
}

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]))
}
