import {
  AppMode,
  AppStatus,
  AppStatusHeaders,
  AppStatusQuery,
  DefineRelease,
  Release,
  ReleaseParams,
  ReleaseRemoved,
  SetAppMode,
} from '../../../schema/app-status.ts'
import { dataOf, isOn, PageQuery, pageOf } from '../../../schema/common.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { readPage, toPage } from '../../http/pages.ts'
import { etagOf, expectedVersion } from '../../http/validation/request-parts.ts'
import type { App, Services } from '../services.ts'
import type { OpenRouteChecks, Slice } from '../slice.ts'
import { defaultMode, modeVersion, type PartialTexts } from './mode.ts'
import { currentMode, findRelease, newestReleases } from './reads.ts'
import { releaseVersion } from './release.ts'
import { appStatusVerbs, modeRecord, releaseRecord } from './verbs.ts'

/** Maintenance mode and the versions that clients may use. */
export const appStatusSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure: () => ({ verbs: appStatusVerbs, openRoutes: appStatusRoutes, adminRoutes: appStatusAdminRoutes }),
}

const tags = ['operators']
const params = ReleaseParams

/** Admin routes for the mode of the app and its releases. */
function appStatusAdminRoutes(app: App, { execute, db }: Services): void {
  app.put(
    '/app-mode',
    {
      schema: {
        operationId: 'setAppMode',
        summary: 'Switch maintenance on or off; in force on every instance within a second',
        description: 'Client routes answer 503 in maintenance, and sockets are closed with 4103; staff can continue.',
        tags,
        body: SetAppMode,
        refusals: appStatusVerbs.setMode.refusals,
        response: { 200: dataOf(AppMode) },
      },
    },
    (request, reply) => {
      const { maintenance, title, message, block_unidentified } = request.body
      const input = {
        maintenance: maintenance === undefined ? undefined : isOn(maintenance),
        title: pickLanguages(title),
        message: pickLanguages(message),
        block_unidentified,
        expected: expectedVersion(request),
      }
      return execute(request, reply, appStatusVerbs.setMode, input)
    },
  )

  app.get(
    '/app-mode',
    {
      schema: {
        operationId: 'getAppMode',
        summary: 'The mode of the app',
        description: 'With an ETag for the next change.',
        tags,
        response: { 200: dataOf(AppMode) },
      },
    },
    async (_request, reply) => {
      const mode = await currentMode(db)
      reply.header('etag', etagOf(modeVersion(mode ?? defaultMode)))
      return { data: modeRecord(mode) }
    },
  )

  app.put(
    '/releases/:client_type',
    {
      schema: {
        operationId: 'defineRelease',
        summary: 'Create or change the release that clients of a type should or must update to',
        description: 'Clients below `minimum_version` are answered 426 from then on.',
        tags,
        params,
        body: DefineRelease,
        refusals: appStatusVerbs.defineRelease.refusals,
        response: { 200: dataOf(Release) },
      },
    },
    (request, reply) => {
      const { version, minimum_version, store_link, title, message } = request.body
      const { client_type } = request.params
      const texts = { title: pickLanguages(title), message: pickLanguages(message) }
      const input = { client_type, version, minimum_version, store_link, ...texts, expected: expectedVersion(request) }
      return execute(request, reply, appStatusVerbs.defineRelease, input)
    },
  )

  app.delete(
    '/releases/:client_type',
    {
      schema: {
        operationId: 'removeRelease',
        summary: 'Remove the release of a client type; its clients are no longer asked to update',
        description: 'It can be put again.',
        tags,
        params,
        refusals: appStatusVerbs.removeRelease.refusals,
        response: { 200: ReleaseRemoved },
      },
    },
    (request, reply) => {
      const input = { client_type: request.params.client_type, expected: expectedVersion(request) }
      return execute(request, reply, appStatusVerbs.removeRelease, input)
    },
  )

  app.get(
    '/releases/:client_type',
    {
      schema: {
        operationId: 'getRelease',
        summary: 'The release of a client type',
        description: 'With an ETag for the next change.',
        tags,
        params,
        response: { 200: dataOf(Release) },
      },
    },
    async (request, reply) => {
      const release = await findRelease(db, request.params.client_type)
      if (release === undefined) throw notFound()
      reply.header('etag', etagOf(releaseVersion(release)))
      return { data: releaseRecord(release) }
    },
  )

  app.get(
    '/releases',
    {
      schema: {
        operationId: 'pageReleases',
        summary: 'Releases, newest first',
        description: 'At most one for each client type.',
        tags,
        querystring: PageQuery,
        response: { 200: pageOf(Release) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 1)
      const rows = await newestReleases(db, limit + 1, cursor)
      const page = toPage(rows, limit, ({ created }) => [created])
      return { ...page, data: page.data.map(releaseRecord) }
    },
  )
}

/** Drops unknown fields: the hash of a request must not depend on them. */
const pickLanguages = (texts: PartialTexts | undefined): PartialTexts | undefined =>
  texts && { en: texts.en, ar: texts.ar }

/** The route that clients call when they start. Open to everyone, also during maintenance, and never refused. */
function appStatusRoutes(app: App, { appState }: Services, { isSignatureValid, mayRemember }: OpenRouteChecks): void {
  app.get(
    '/app-status',
    {
      schema: {
        operationId: 'appStatus',
        summary: 'Whether the service is in maintenance, and whether the client should or must update',
        description:
          'Always 200. Maintenance takes precedence over updates. With a token, the type and version of the client are ' +
          'stored and apply to requests of the same token that state neither. Accept-Language is read with qualities.',
        tags: ['app status'],
        security: [{}, { bearer: [] }],
        headers: AppStatusHeaders,
        querystring: AppStatusQuery,
        response: { 200: AppStatus },
      },
      // The schemas document the inputs; malformed ones are not refused.
      validatorCompiler: () => () => true,
    },
    (request, reply) => {
      void reply
        .header('cache-control', 'no-store')
        .send(appState.statusFor(request, isSignatureValid, () => mayRemember(request)))
    },
  )
}
