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

/**
 * What a document leaves out: as the last line all lines that follow, in JSON a value, the other fields of an object or the
 * other items of a list. So a document shows only what its text is about; whole answers stand in schema/examples.
 */
const CUT = '…'

/** An output as the document shows it: with the same left out. */
export function asShown(shown: readonly string[], output: string): readonly string[] {
  const lines = output === '' ? [] : output.split('\n')
  const cut = lines.map((line, i) => excerptOf(shown[i] ?? '', line))
  return shown.at(-1) === CUT ? [...cut.slice(0, shown.length - 1), CUT] : cut
}

/** An output with all texts replaced that differ from run to run. */
export const comparable = (output: string): string =>
  VOLATILE.reduce((rest, [pattern, name]) => rest.replaceAll(pattern, name), output.trimEnd())

/** A line of JSON without what another form of it leaves out; any other line as it is. */
function excerptOf(shown: string, line: string): string {
  if (!/^[{[].*…/.test(shown) || !/^[{[]/.test(line)) return line
  // Outside of texts, … becomes a text, and in an object a field with this name.
  const json = shown.replaceAll(/"(?:[^"\\]|\\.)*"|…/g, (found: string, at: number) => {
    if (found !== CUT) return found
    const isField = /[{,]/.test(shown[at - 1] ?? '') && shown[at + 1] === '}'
    return isField ? `"${CUT}":"${CUT}"` : `"${CUT}"`
  })
  return JSON.stringify(without(JSON.parse(json), JSON.parse(line)))
    .replaceAll(`"${CUT}":"${CUT}"`, CUT)
    .replaceAll(`"${CUT}"`, CUT)
}

function without(shown: unknown, value: unknown): unknown {
  if (shown === CUT) return CUT
  if (Array.isArray(shown) && Array.isArray(value)) {
    const isCut = shown.at(-1) === CUT
    const items = value.slice(0, isCut ? shown.length - 1 : value.length).map((item, i) => without(shown[i], item))
    return isCut ? [...items, CUT] : items
  }
  if (!isObject(shown) || !isObject(value)) return value
  const fields = Object.entries(value).map(([name, field]) => [name, without(shown[name], field)] as const)
  return Object.fromEntries(CUT in shown ? [...fields.filter(([name]) => name in shown), [CUT, CUT]] : fields)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
