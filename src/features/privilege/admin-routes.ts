import { Type } from '@sinclair/typebox'
import { dataOf, PageQuery, pageOf, pickName } from '../../../schema/common.ts'
import { IdParams } from '../../../schema/operator.ts'
import { DefinePackage, GrantCards, PackageRecord, WalletCard } from '../../../schema/privilege.ts'
import { ProposalRecord } from '../../../schema/proposals.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { readPage, toPage } from '../../http/pages.ts'
import { etagOf, expectedVersion, idInPath } from '../../http/validation/request-parts.ts'
import type { App, Services } from '../services.ts'
import { packageVersion } from './packages/package.ts'
import { packageRecord } from './presenters.ts'
import { newestPackages, packageById } from './reads.ts'
import type { PrivilegeVerbs } from './verbs.ts'

const tags = ['operators']
const params = IdParams

/** Admin routes for privilege packages and cards. */
export function privilegeAdminRoutes(app: App, services: Services, verbs: PrivilegeVerbs): void {
  const { execute, db, settings } = services

  app.put(
    '/privilege-packages/:id',
    {
      schema: {
        operationId: 'definePrivilegePackage',
        summary: 'Create or change a privilege package',
        description: 'Cards that were granted keep their days; absent fields stay as they are.',
        tags,
        params,
        body: DefinePackage,
        refusals: verbs.definePackage.refusals,
        response: { 200: dataOf(PackageRecord) },
      },
    },
    (request, reply) => {
      const id = idInPath(request.params.id)
      const { name, rank, valid_days, icon_path } = request.body
      const fields = { name: pickName(name), rank, valid_days, icon_path, expected: expectedVersion(request) }
      const input = { privilege_package_id: id, ...fields }
      return execute(request, reply, verbs.definePackage, input)
    },
  )

  app.get(
    '/privilege-packages/:id',
    {
      schema: {
        operationId: 'getPrivilegePackage',
        summary: 'A privilege package',
        description: 'As it was put, with an ETag for the next change.',
        tags,
        params,
        response: { 200: dataOf(PackageRecord) },
      },
    },
    async (request, reply) => {
      const found = await packageById(db, idInPath(request.params.id))
      if (found === undefined) throw notFound()
      reply.header('etag', etagOf(packageVersion(found)))
      return { data: packageRecord(found, settings.assetBaseUrl) }
    },
  )

  app.get(
    '/privilege-packages',
    {
      schema: {
        operationId: 'pagePrivilegePackages',
        summary: 'Privilege packages, newest first',
        description: 'As they were put.',
        tags,
        querystring: PageQuery,
        response: { 200: pageOf(PackageRecord) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 2)
      const rows = await newestPackages(db, limit + 1, cursor)
      const page = toPage(rows, limit, ({ created_at, privilege_package_id }) => [created_at, privilege_package_id])
      return { ...page, data: page.data.map((row) => packageRecord(row, settings.assetBaseUrl)) }
    },
  )

  app.post(
    '/users/:id/cards',
    {
      schema: {
        operationId: 'grantCards',
        summary: 'Grant privilege cards to a user',
        description: 'Above its limit it becomes a proposal (202).',
        tags,
        params,
        body: GrantCards,
        refusals: verbs.grantCards.refusals,
        response: { 201: dataOf(Type.Array(WalletCard)), 202: dataOf(ProposalRecord) },
      },
    },
    (request, reply) => {
      const user_id = idInPath(request.params.id)
      const { privilege_package_id, quantity, reason } = request.body
      const input = { user_id, privilege_package_id, quantity, reason }
      return execute(request, reply, verbs.grantCards, input)
    },
  )
}
