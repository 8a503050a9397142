import { templates } from '../template.ts'
import type { Cell } from './cells.ts'

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
