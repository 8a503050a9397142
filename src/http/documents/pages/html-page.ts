import type { Language } from '../../../../schema/languages.ts'
import { PAGE_STYLE_PATH } from './page-style.ts'

interface PageOptions {
  readonly language?: Language
  /** HTML: scripts and style sheets of the page. */
  readonly head?: string
}

/** A page for people. `body` is HTML; `head` is for what a page loads besides its style. */
export const htmlPage = (
  title: string,
  body: string,
  { language = 'en', head = '' }: PageOptions = {},
): string => `<!DOCTYPE html>
<html lang="${language}"${language === 'ar' ? ' dir="rtl"' : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${PAGE_STYLE_PATH}">
${head}</head>
<body>
<main>
${body}
</main>
</body>
</html>
`

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** A line of text in which words in backticks are code and words between two asterisks are strong. */
export const formatText = (text: string): string =>
  escapeHtml(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')

/** Paragraphs and lists, apart by empty lines, as documents describe with them. */
export const formatParagraphs = (text: string): string =>
  text
    .split('\n\n')
    .map((part) => (part.startsWith('- ') ? `<ul>\n${listItems(part)}\n</ul>` : `<p>${formatText(part)}</p>`))
    .join('\n')

const listItems = (list: string): string =>
  list
    .split('\n')
    .map((item) => `<li>${formatText(item.replace(/^- /, ''))}</li>`)
    .join('\n')
