import { dataOf, PageQuery, pageOf, pickName } from '../../../../schema/common.ts'
import { CountryRecord, DefineCountry, IdParams } from '../../../../schema/operator.ts'
import { notFound } from '../../../http/errors/http-error.ts'
import { readPage, toPage } from '../../../http/pages.ts'
import { etagOf, expectedVersion, idInPath } from '../../../http/validation/request-parts.ts'
import type { App, Services } from '../../services.ts'
import { countryRecord } from '../presenters.ts'
import { countryById, newestCountries } from '../reads.ts'
import type { UserVerbs } from '../verbs.ts'
import { countryVersion } from './country.ts'

const tags = ['operators']

/** Admin routes for countries. */
export function countryAdminRoutes(app: App, services: Services, verbs: UserVerbs): void {
  const { execute, db } = services

  app.put(
    '/countries/:id',
    {
      schema: {
        operationId: 'defineCountry',
        summary: 'Create or rename a country',
        description: 'A country is never removed: requests name it.',
        tags,
        params: IdParams,
        body: DefineCountry,
        refusals: verbs.defineCountry.refusals,
        response: { 200: dataOf(CountryRecord) },
      },
    },
    (request, reply) => {
      const id = idInPath(request.params.id)
      const input = { id, name: pickName(request.body.name), expected: expectedVersion(request) }
      return execute(request, reply, verbs.defineCountry, input)
    },
  )

  app.get(
    '/countries/:id',
    {
      schema: {
        operationId: 'getCountry',
        summary: 'A country',
        description: 'With its name in each language, and an ETag for the next change.',
        tags,
        params: IdParams,
        response: { 200: dataOf(CountryRecord) },
      },
    },
    async (request, reply) => {
      const country = await countryById(db, idInPath(request.params.id))
      if (country === undefined) throw notFound()
      reply.header('etag', etagOf(countryVersion(country)))
      return { data: countryRecord(country) }
    },
  )

  app.get(
    '/countries',
    {
      schema: {
        operationId: 'pageCountries',
        summary: 'Countries, newest first',
        description: 'With their names in each language.',
        tags,
        querystring: PageQuery,
        response: { 200: pageOf(CountryRecord) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 2)
      const rows = await newestCountries(db, limit + 1, cursor)
      const page = toPage(rows, limit, ({ created_at, country_id }) => [created_at, country_id])
      return { ...page, data: page.data.map(countryRecord) }
    },
  )
}
