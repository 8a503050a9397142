import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { assetAddress } from '../assets/assets.ts'
import { isForPart, staffOrNull } from '../session/session-check.ts'
import { format } from './cell-html.ts'
import { takeDone } from './done.ts'
import { navigationFor, roleNames } from './navigation.ts'
import type { Template } from './template.ts'

/** Scripts that a page may need beside that of the frame. */
export type PageScript = 'htmx' | 'chart' | 'hash' | 'odds' | 'checkpoint-file' | 'live' | 'playground'

export interface Page<Data extends object> {
  /** The title of the window; the page's first heading says the same. */
  readonly title: string
  readonly data: Data
  readonly status?: number
  readonly scripts?: readonly PageScript[]
}

/** What the frame around every page shows. */
interface Frame {
  readonly title: string
  readonly csrf: string
  /** A new idempotency key for each form. */
  readonly formKey: () => string
  /** What was just done; null for nothing. */
  readonly done: string | null
  readonly navigation: ReturnType<typeof navigationFor>
  readonly staff: { readonly name: string; readonly role: string; readonly mayWrite: boolean } | null
  readonly q: string
  readonly now: string
  readonly asset: typeof assetAddress
  readonly scripts: readonly PageScript[]
}

/** Sends a page in the frame. Templates get its data, `frame`, and `format` to show values. */
export async function sendPage<Data extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  template: Template<Data>,
  { title, data, status = 200, scripts = [] }: Page<Data>,
): Promise<FastifyReply> {
  const staff = staffOrNull(request)
  const [path = '/console'] = request.originalUrl.split('?', 1)
  const { q } = Object(request.query)
  const frame: Frame = {
    title,
    csrf: reply.generateCsrf({ userInfo: staff?.token ?? 'nobody' }),
    formKey: () => randomUUID(),
    done: takeDone(request, reply),
    navigation: staff === null ? [] : navigationFor(path),
    staff:
      staff === null ? null : { name: staff.name, role: roleNames[staff.role], mayWrite: staff.role === 'operator' },
    // Other pages have a filter of that name.
    q: path === '/console/search' && typeof q === 'string' ? q : '',
    now: new Date().toISOString(),
    asset: assetAddress,
    scripts,
  }
  const html = await reply.viewAsync(template.path, { ...data, frame, format })
  // Also of an error in place of a file that browsers may keep.
  reply.header('cache-control', 'no-store')
  return reply.code(status).type('text/html; charset=utf-8').send(html)
}

/** Sends a part of a page, for htmx to put in its place. Whoever comes to its address otherwise is led to `page`. */
export async function sendPart<Data extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  template: Template<Data>,
  { page, read }: { readonly page: string; readonly read: () => Data | Promise<Data> },
): Promise<FastifyReply> {
  if (!isForPart(request)) return reply.redirect(page, 303)
  const html = await reply.viewAsync(template.path, { ...(await read()), format })
  return reply.type('text/html; charset=utf-8').send(html)
}
