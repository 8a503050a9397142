import { Type } from '@sinclair/typebox'
import { dataOf, type Flag, IdParams, isOn, PageQuery, pageOf, pickName } from '../../../schema/common.ts'
import {
  CountryRecord,
  DefineCountry,
  DefineUser,
  DefineUsers,
  MAX_USERS_PER_REQUEST,
  RevokedSessions,
  UserRecord,
} from '../../../schema/users.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { readPage, toPage } from '../../http/pages.ts'
import { etagOf, expectedVersion, idInPath } from '../../http/validation/request-parts.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import { fieldMessages } from '../../language/messages.ts'
import { parseId } from '../../ledger/rules/account.ts'
import type { App, Services } from '../services.ts'
import { countryVersion } from './country.ts'
import type { UserFields } from './define-user.ts'
import { countryById, newestCountries, newestUsers, userById } from './reads.ts'
import { userVersion } from './user.ts'
import { countryRecord, type UserVerbs, userRecord } from './verbs.ts'

const tags = ['operators']

/** Admin routes for users. */
export function userAdminRoutes(app: App, services: Services, verbs: UserVerbs): void {
  const { execute, db, sessions, settings } = services

  app.put(
    '/users/:id',
    {
      schema: {
        operationId: 'defineUser',
        summary: 'Create or change a user',
        description: 'Announces somebody before their first token. Absent fields stay as they are.',
        tags,
        params: IdParams,
        body: DefineUser,
        refusals: verbs.defineUser.refusals,
        response: { 200: dataOf(UserRecord) },
      },
    },
    (request, reply) => {
      const id = idInPath(request.params.id)
      const user = { ...userFields(id, request.body), expected: expectedVersion(request) }
      const input = { users: [user], listed: false }
      return execute(request, reply, verbs.defineUser, input)
    },
  )

  app.post(
    '/users',
    {
      schema: {
        operationId: 'defineUsers',
        summary: 'Create or change up to 1,000 users, all or none',
        description: 'Returns the users in the order in which they were sent, as many as fit into 1 MB.',
        tags,
        body: DefineUsers,
        // A list names no versions.
        refusals: verbs.defineUsers.refusals.filter((code) => code !== 'precondition_failed'),
        response: { 200: dataOf(Type.Array(UserRecord)) },
      },
      // The schema reports every error in a list. For a list far beyond the limit that would block the server for seconds.
      preValidation: async ({ body }) => {
        if (Array.isArray(body?.users) && body.users.length > MAX_USERS_PER_REQUEST) {
          throw validationFailed({ users: [fieldMessages.holds_at_most(MAX_USERS_PER_REQUEST)] })
        }
      },
    },
    (request, reply) => {
      const users = request.body.users.map((user) => userFields(user.id, user))
      return execute(request, reply, verbs.defineUsers, { users, listed: true })
    },
  )

  app.get(
    '/users/:id',
    {
      schema: {
        operationId: 'getUser',
        summary: 'A user',
        description: 'As it was put, with an ETag for the next change.',
        tags,
        params: IdParams,
        response: { 200: dataOf(UserRecord) },
      },
    },
    async (request, reply) => {
      const user = await userById(db, idInPath(request.params.id))
      if (user === undefined) throw notFound()
      reply.header('etag', etagOf(userVersion(user)))
      return { data: userRecord(user, user, settings.assetBaseUrl) }
    },
  )

  app.get(
    '/users',
    {
      schema: {
        operationId: 'pageUsers',
        summary: 'Users, newest first',
        description: 'As they were put, with their flags.',
        tags,
        querystring: PageQuery,
        response: { 200: pageOf(UserRecord) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 2)
      const rows = await newestUsers(db, limit + 1, cursor)
      const page = toPage(rows, limit, ({ created_at, user_id }) => [created_at, user_id])
      return { ...page, data: page.data.map((user) => userRecord(user, user, settings.assetBaseUrl)) }
    },
  )

  app.post(
    '/users/:id/revoke-sessions',
    {
      schema: {
        operationId: 'revokeSessions',
        summary: "End a user's sessions: tokens issued before this second answer 440",
        description: 'On every instance within a second; sockets are closed with 4001.',
        tags,
        params: IdParams,
        refusals: verbs.revokeSessions.refusals,
        response: { 200: dataOf(RevokedSessions) },
      },
      // Before the response is sent: from then on this instance refuses the old tokens.
      onSend: (request, _reply, _payload, done) => {
        const id = parseId(request.params.id)
        if (id !== null) sessions.invalidate(id)
        done()
      },
    },
    (request, reply) => execute(request, reply, verbs.revokeSessions, { user_id: idInPath(request.params.id) }),
  )
}

/** Rate of a charging agent when the operator gives none. */
const DEFAULT_DIAMONDS_PER_DOLLAR = 10_000

/** The fields of a user in a fixed order: the hash of a request must not depend on the order of the body's keys. */
const userFields = (id: number, body: DefineUser): UserFields => ({
  id,
  uid: body.uid,
  name: body.name,
  avatar: body.avatar,
  charging_agent: flag(body.charging_agent),
  allow_receive_withdraw_requests: flag(body.allow_receive_withdraw_requests),
  business_manager: flag(body.business_manager),
  agency_countries: body.agency_countries?.map(({ country_id, diamonds_per_dollar = DEFAULT_DIAMONDS_PER_DOLLAR }) => ({
    country_id,
    diamonds_per_dollar,
  })),
})

const flag = (sent: Flag | undefined): boolean | undefined => (sent === undefined ? undefined : isOn(sent))

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
