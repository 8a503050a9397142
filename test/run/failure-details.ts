const MAX_DETAILS = 20
const MAX_LINES = 40

/**
 * The first 20 failed assertions and errors of a TAP stream, each with its diagnostics (differences and stack), cut at 40
 * lines. Tests that failed because of those within have no difference or stack of their own, and are left out.
 */
export function failureDetails(tap: string): readonly string[] {
  const details: string[] = []
  const lines = tap.split('\n')
  for (const [i, line] of lines.entries()) {
    const indent = /^( *)not ok /.exec(line)?.[1]
    if (indent === undefined || lines[i + 1] !== `${indent}  ---`) continue
    const end = lines.indexOf(`${indent}  ...`, i)
    const block = lines.slice(i, end === -1 ? undefined : end)
    if (!block.some((one) => one.startsWith(`${indent}  diff:`) || one.startsWith(`${indent}  stack:`))) continue
    details.push(
      block
        .slice(0, MAX_LINES)
        .map((one) => one.slice(indent.length))
        .join('\n'),
    )
    if (details.length === MAX_DETAILS) break
  }
  return details
}
