import { Type } from '@sinclair/typebox'
import { dataOf, PersonResource } from '../../../schema/common.ts'
import { UserParams, UserSearch } from '../../../schema/people.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { withAvatarUrl } from '../asset-url.ts'
import type { App, Services } from '../services.ts'
import { findPeople, personById } from './reads.ts'

const tags = ['users']

/** Client routes that show other users. */
export function userRoutes(app: App, { db, settings }: Services): void {
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
