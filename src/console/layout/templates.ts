import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import { type Cell, formatCount, formatUnits, formatWord, type Link, timeCell, type Words } from './cells.ts'

/** A template and what it shows: a file of `src/console`, named from there. */
export interface Template<Data extends object> {
  readonly path: string
  /** Only for the type: what the template is given. */
  readonly data?: Data
}

/** Names a template with the type of its data, so that a page that gives something else does not compile. */
export const defineTemplate = <Data extends object>(path: `/${string}.eta`): Template<Data> => ({ path })

/** Everything that is shown is escaped; templates are read once. */
export const templates = new Eta({
  views: fileURLToPath(new URL('..', import.meta.url)),
  autoEscape: true,
  cache: true,
  autoTrim: [false, 'nl'],
})

const { escapeFunction: escape } = templates.config

/** A cell's markup. Not a template: a page has hundreds of cells, and to include one takes longer than to show it. */
export function cellHtml(cell: Cell): string {
  const linked = linkedHtml(cell)
  return cell.suffix === undefined ? linked : `${linked}, ${cellHtml(cell.suffix)}`
}

function linkedHtml(cell: Cell): string {
  const shown = valueHtml(cell)
  if (cell.href === undefined) return shown
  // Nothing to see there, most of the time.
  const isZero = cell.kind === 'number' && /^0(\.0+)?$/.test(cell.text)
  return `<a href="${escape(cell.href)}"${isZero ? ' class="zero"' : ''}>${shown}</a>`
}

function valueHtml({ kind, text, datetime, tone, picture }: Cell): string {
  const escaped = escape(text)
  if (picture !== undefined) {
    const { address, alt } = picture
    const size = 'width="32" height="32" loading="lazy"'
    return `<img class="picture" src="${escape(address)}" alt="${escape(alt)}" ${size}> <code><bdi>${escaped}</bdi></code>`
  }
  if (kind === 'time' && datetime !== undefined) return `<time datetime="${escape(datetime)}">${escaped}</time>`
  if (kind === 'code') return `<code><bdi>${escaped}</bdi></code>`
  if (kind === 'status') return `<span class="status ${escape(tone)}">${escaped}</span>`
  return kind === 'number' ? `<span class="number">${escaped}</span>` : `<bdi>${escaped}</bdi>`
}

const wordsHtml = (words: Words): string => (typeof words === 'string' ? escape(words) : words.map(wordHtml).join(''))

function wordHtml(word: string | Link | Cell): string {
  if (typeof word === 'string') return escape(word)
  if ('kind' in word) return cellHtml(word)
  return `<a href="${escape(word.href)}"${word.isFile === true ? ' download' : ''}>${escape(word.text)}</a>`
}

/** What templates call to show values. `html` and `words` give markup, which escapes what it shows. */
export const format = {
  time: timeCell,
  units: formatUnits,
  count: formatCount,
  word: formatWord,
  html: cellHtml,
  words: wordsHtml,
} as const
