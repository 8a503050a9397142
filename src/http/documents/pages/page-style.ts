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
