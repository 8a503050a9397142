import { assetUrl } from '../../features/asset-url.ts'
import type { Services } from '../../features/services.ts'
import { mediaTypeOf } from '../../http/assets.ts'
import type { ConsoleOptions } from '../console-services.ts'
import { type Cell, codeCell } from './cells.ts'

/** What says where pictures are stored, and which of them are ours. */
export type PictureSources = Pick<Services, 'settings'> & Pick<ConsoleOptions, 'isOwnOrigin'>

/** The path of a picture; before it the picture itself, unless that is stored elsewhere: nothing is loaded from there. */
export function pictureCell(sources: PictureSources, path: string, alt: string): Cell {
  const address = ownAddress(sources, path)
  return address === null ? codeCell(path) : { ...codeCell(path), picture: { address, alt } }
}

/** A path of this service, as a page may be open at another one of its own addresses; null for what is not ours. */
function ownAddress({ settings, isOwnOrigin }: PictureSources, path: string): string | null {
  const url = URL.parse(assetUrl(path, settings.assetBaseUrl))
  if (url === null || !isOwnOrigin(url.origin) || !url.pathname.startsWith('/assets/')) return null
  return mediaTypeOf(url.pathname)?.startsWith('image/') === true ? `${url.pathname}${url.search}` : null
}
