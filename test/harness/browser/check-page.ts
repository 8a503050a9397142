import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import { HtmlValidate } from 'html-validate'
import type { TestPage } from './browser.ts'

interface Test {
  same(found: unknown, wanted: unknown, message: string): boolean
  ok(found: unknown, message: string): boolean
}

interface PageChecks {
  /** Selectors of parts that are not ours, and which axe leaves out; say why where you name some. */
  readonly foreignParts?: readonly string[]
  /** Addresses of scripts that are not ours, whose errors do not count. */
  readonly foreignScripts?: readonly string[]
  /** Leaves out axe and the check of the HTML, which take three times as long as opening a page and all other checks. */
  readonly isQuick?: boolean
}

/**
 * Checks the page as it stands: axe finds no violation (WCAG 2.2, levels A and AA), the HTML that was served is valid,
 * nothing failed on the console, nothing was asked for elsewhere, and nothing has to be scrolled sideways. Call it again
 * after whatever changes the page much.
 */
export async function checkPage(
  t: Test,
  tested: TestPage,
  { foreignParts = [], foreignScripts = [], isQuick = false }: PageChecks = {},
): Promise<void> {
  const { page, hasScripts } = tested
  const place = new URL(page.url()).pathname
  if (!isQuick) t.same(await htmlFaults(await tested.servedHtml()), [], `${place}: the HTML is valid`)
  // Without scripts axe cannot run, either: the same HTML is checked with scripts.
  if (hasScripts && !isQuick) {
    t.same(await accessibilityFaults(tested, foreignParts), [], `${place}: axe finds nothing`)
  }
  const ownErrors = tested.errors.filter((error) => !foreignScripts.some((script) => error.includes(script)))
  t.same(ownErrors, [], `${place}: no errors on the console`)
  t.same(tested.foreignRequests, [], `${place}: no requests to elsewhere`)
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  const shown = await page.evaluate<number>('document.documentElement.clientWidth')
  t.ok(width <= shown, `${place}: ${width} pixels wide, in a window of ${shown}`)
}

/** Bytes that a page may transfer when it is opened for the first time. */
const MAX_PAGE_BYTES = 150 * 1024

/** Checks what a page has transferred since it was opened, files included; for a page that was opened only once. */
export async function checkWeight(t: Test, tested: TestPage): Promise<void> {
  await tested.page.waitForLoadState('networkidle')
  const bytes = await tested.transferredBytes()
  const place = new URL(tested.page.url()).pathname
  t.ok(bytes > 0 && bytes <= MAX_PAGE_BYTES, `${place}: ${bytes} bytes, of ${MAX_PAGE_BYTES}`)
}

const htmlValidate = new HtmlValidate({
  extends: ['html-validate:recommended'],
})

async function htmlFaults(html: string): Promise<string[]> {
  const { results } = await htmlValidate.validateString(html)
  return results.flatMap(({ messages }) =>
    messages.map(({ line, column, ruleId, message }) => `${line}:${column} ${ruleId}: ${message}`),
  )
}

/** Half as long to parse as the form that is meant to be read. */
const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const WCAG_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** Scripts of the tests come through the debugger, so that the page's Content-Security-Policy does not stop them. */
async function accessibilityFaults({ page }: TestPage, foreignParts: readonly string[]): Promise<string[]> {
  await page.evaluate(axeSource)
  const options = { runOnly: { type: 'tag', values: WCAG_TAGS }, resultTypes: ['violations'] }
  const context = foreignParts.length === 0 ? 'document' : JSON.stringify({ exclude: foreignParts })
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${context}, ${JSON.stringify(options)})`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
  )
}
