import { Type } from '@sinclair/typebox'
import { dataOf, PersonResource } from '../../../schema/common.ts'
import {
  Country,
  Device,
  DeviceParams,
  DeviceRemoved,
  RegisterDevice,
  UserParams,
  UserSearch,
} from '../../../schema/users.ts'
import { userOf } from '../../http/auth/caller.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { nameIn } from '../../language/names.ts'
import { languageOf } from '../../language/request-language.ts'
import { withAvatarUrl } from '../asset-url.ts'
import type { App, Services } from '../services.ts'
import type { Slice } from '../slice.ts'
import { countryAdminRoutes, userAdminRoutes } from './admin-routes.ts'
import { allCountries, findPeople, personById } from './reads.ts'
import { type UserVerbs, userVerbs } from './verbs.ts'

/** Users, their devices, and countries. */
export const usersSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure(settings) {
    const verbs = userVerbs(settings)
    return {
      verbs,
      routes: (app, services) => {
        userRoutes(app, services)
        countryRoutes(app, services)
        deviceRoutes(app, services, verbs)
      },
      adminRoutes: (app, services) => {
        userAdminRoutes(app, services, verbs)
        countryAdminRoutes(app, services, verbs)
      },
    }
  },
}

const tags = ['users']

/** Client routes that show other users. */
function userRoutes(app: App, { db, settings }: Services): void {
  app.get(
    '/users',
    {
      // Dear, so that nobody lists all users by trying all beginnings.
      config: { cost: 10 },
      schema: {
        operationId: 'findUsers',
        summary: 'Users by uid, or by the beginning of their name',
        description:
          'The user with exactly this uid comes first, then users whose name begins with the word, by name and id; ' +
          'at most 20. A single character finds a uid only.',
        tags,
        querystring: UserSearch,
        response: { 200: dataOf(Type.Array(PersonResource)) },
      },
    },
    async (request) => {
      const people = await findPeople(db, request.query.search)
      return { data: people.map((person) => withAvatarUrl(person, settings.assetBaseUrl)) }
    },
  )

  app.get(
    '/users/:id',
    {
      schema: {
        operationId: 'showUser',
        summary: 'A user by id',
        description: 'What everybody may know of somebody; what somebody holds is in the own wallet only.',
        tags,
        params: UserParams,
        response: { 200: dataOf(PersonResource) },
      },
    },
    async (request) => {
      const person = await personById(db, idInPath(request.params.id))
      if (person === undefined) throw notFound()
      return { data: withAvatarUrl(person, settings.assetBaseUrl) }
    },
  )
}

/** The client route for countries. */
function countryRoutes(app: App, { db }: Services): void {
  app.get(
    '/countries',
    {
      schema: {
        operationId: 'listCountries',
        summary: 'All countries, newest first',
        description: 'Withdrawals name one of them, and agents have a rate for each that they serve.',
        tags: ['users'],
        response: { 200: dataOf(Type.Array(Country)) },
      },
    },
    async (request) => {
      const countries = await allCountries(db)
      return {
        data: countries.map((country) => ({ id: country.country_id, name: nameIn(country, languageOf(request)) })),
      }
    },
  )
}

/** Client routes for the devices that receive push notifications. */
function deviceRoutes(app: App, services: Services, verbs: UserVerbs): void {
  const { execute } = services

  app.post(
    '/devices',
    {
      schema: {
        operationId: 'registerDevice',
        summary: 'Register a device for push notifications; its token then belongs to the caller only',
        description:
          'The token is that of Firebase Cloud Messaging. What a device gets, where all values of data are strings, ' +
          '`type` and `identifier` are those of the inbox, and `withdrawal_id` is there for an agency-withdrawal only:\n\n' +
          '```json\n' +
          '{"notification": {"title": "Withdrawal approved", "body": "…"}, "data": {"type": "withdrawal", ' +
          '"identifier": "agency-withdrawal", "withdrawal_id": "41"}, "android": {"notification": {"tag": ' +
          '"agency-withdrawal-57"}}}\n' +
          '```\n\n' +
          'The tag (on iOS the apns-collapse-id) ends in the position of the event, which is the id of the notification in ' +
          'the inbox. A message may come twice; the second one replaces the first.',
        tags: ['devices'],
        body: RegisterDevice,
        refusals: verbs.registerDevice.refusals,
        response: { 201: dataOf(Device) },
      },
    },
    (request, reply) => {
      const { token, platform, language = 'en' } = request.body
      return execute(request, reply, verbs.registerDevice, { user_id: userOf(request), token, platform, language })
    },
  )

  app.delete(
    '/devices/:token',
    {
      schema: {
        operationId: 'removeDevice',
        summary: 'Stop push notifications to a device',
        description: 'For a sign-out. A token that is unknown, or registered by another user, changes nothing.',
        tags: ['devices'],
        params: DeviceParams,
        refusals: verbs.removeDevice.refusals,
        response: { 200: DeviceRemoved },
      },
    },
    (request, reply) => {
      const input = { user_id: userOf(request), token: request.params.token }
      return execute(request, reply, verbs.removeDevice, input)
    },
  )
}
