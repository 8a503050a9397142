import { unescaped } from '../harness/app/console-session.ts'

/** What is read of a page's main part, in one line. */
export const textOf = (html: string): string =>
  html
    .slice(Math.max(0, html.indexOf('<main')))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** The token that forms of a page send. */
export const csrfOf = ({ html }: { readonly html: string }): string =>
  /name="_csrf" value="([^"]+)"/.exec(html)?.[1] ?? ''

/** The hidden fields of a form, or of what begins with one. */
export function hiddenFieldsOf(html: string): Record<string, string> {
  const form = html.split('</form>')[0] ?? ''
  const fields = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries(Array.from(fields, ([, name = '', value = '']) => [name, value]))
}

/** What a link of a page leads to; empty where there is none. */
export const linkIn = (html: string, pattern: RegExp): string => unescaped(pattern.exec(html)?.[1] ?? '')

/** The address of the next page of a list. */
export const nextOf = (html: string): string => linkIn(html, /<a href="([^"]+)" rel="next"/)

/** Ids that a list of the console links to in this folder, in the list's order. */
export const idsIn = (html: string, folder: string): number[] =>
  [...html.matchAll(new RegExp(`<td>\\s*<a href="/console/${folder}/(\\d+)"`, 'g'))].map(([, id]) => Number(id))
