import type { Language } from '../../../../schema/languages.ts'

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

/** Where the style sheet of all pages for people is served. */
export const PAGE_STYLE_PATH = '/page.css'

/** Light or dark as the system is. Long words and code wrap, so that a phone shows them without scrolling sideways. */
export const pageStyle = `:root {
  color-scheme: light dark;
  background: Canvas;
  color: CanvasText;
  font: 1rem/1.5 system-ui, sans-serif;
}
body {
  margin: 0 auto;
  max-width: 64rem;
  padding: 1rem;
}
h1, h2, h3, p, li, td, th, code {
  overflow-wrap: anywhere;
}
pre {
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
th, td {
  padding: 0 0.5rem 0.25rem 0;
  text-align: start;
  vertical-align: top;
}
`

/** Headers of pages: only our own scripts and styles, and no framing. */
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self' data:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
}
