import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import type { App } from '../../../features/services.ts'
import { HttpError } from '../../../http/errors/http-error.ts'
import { httpMessages } from '../../../http/messages.ts'
import type { ConsoleServices } from '../../console-services.ts'
import { act, actFields } from '../../frame/act.ts'
import { addressWith } from '../../frame/address.ts'
import type { Cell } from '../../frame/cells.ts'
import { userPath } from '../../frame/links.ts'
import { sendPage } from '../../frame/send-page.ts'
import { defineTemplate } from '../../frame/template.ts'
import { partTable, type Table } from '../../lists/list.ts'
import { staffOf } from '../../session/session-check.ts'
import { personName } from '../person.ts'
import { findUser, type User } from '../user/find-user.ts'
import { addToBagAct } from './add-to-bag.ts'
import { endSessionsAct } from './end-sessions.ts'
import { flagsAct } from './flags.ts'
import { grantCardsAct } from './grant-cards.ts'
import { creditAct, debitAct } from './move-balance.ts'
import type { ActInput, Change, Review, UserAct, Values } from './user-act.ts'

const acts: readonly UserAct[] = [creditAct, debitAct, grantCardsAct, addToBagAct, flagsAct, endSessionsAct]

/** Longer than every input takes, so that most faults are shown beside it. */
const MAX_VALUE_CHARACTERS = 2_000

interface ActData {
  readonly title: string
  readonly lead: string
  readonly name: string
  readonly userPath: string
  readonly path: string
}

interface FormData extends ActData {
  /** Of the form as a whole; null without one. */
  readonly problem: string | null
  readonly inputs: readonly (ActInput & { readonly value: string; readonly error: string | null })[]
}

interface ReviewData extends ActData {
  readonly given: readonly (readonly [string, Cell])[]
  readonly table: Table
  readonly values: readonly (readonly [string, string])[]
  readonly button: string
  /** The form with what was typed; null for an act without inputs. */
  readonly editHref: string | null
}

const formTemplate = defineTemplate<FormData>('/users/acts/act-form.eta')
const reviewTemplate = defineTemplate<ReviewData>('/users/acts/act-review.eta')

/**
 * Acts on users, for operators only: a form, whose GET leads to a page that shows what would change, whose POST does it. A
 * refusal is shown on the form, beside what was typed.
 */
export function addActPages(scope: App, services: ConsoleServices): void {
  for (const one of acts) addActPage(scope, services, one)
}

function addActPage(scope: App, services: ConsoleServices, one: UserAct): void {
  const { path, names } = one
  const fields = Object.fromEntries(
    names.map((name) => [name, Type.Optional(Type.String({ maxLength: MAX_VALUE_CHARACTERS }))]),
  )
  const querystring = Type.Object({ ...fields, review: Type.Optional(Type.String({ maxLength: 1 })) })

  scope.get(`/users/:id/${path}`, { schema: { querystring } }, async (request, reply) => {
    if (staffOf(request).role !== 'operator') throw new HttpError(403, 'forbidden', httpMessages.forbidden)
    const { reports: db } = await services.reads.reportsFor(request)
    const user = await findUser(db, request.params)
    const values = valuesIn(request.query, names)
    if (names.length > 0 && request.query.review === undefined)
      return sendForm(request, reply, { db, one, user, values })
    const review = await one.review(db, user, values)
    if ('errors' in review) return sendForm(request, reply, { db, one, user, values, errors: review.errors })
    return sendReview(request, reply, one, user, values, review)
  })

  scope.post(
    `/users/:id/${path}`,
    { schema: { body: Type.Object({ ...fields, ...actFields }) } },
    async (request, reply) => {
      const { reports: db } = await services.reads.reportsFor(request)
      const user = await findUser(db, request.params)
      const values = valuesIn(request.body, names)
      const { done, requestOf } = one
      try {
        const toDo = { ...requestOf(user.user_id, values), key: request.body.key, back: userPath(user.user_id), done }
        return await act(request, reply, services, toDo)
      } catch (error) {
        if (!(error instanceof HttpError) || error.status !== 422 || names.length === 0) throw error
        const errors = Object.fromEntries(
          Object.entries(error.errors ?? {}).map(([name, texts]) => [name, texts.map(({ en }) => en).join(' ')]),
        )
        return sendForm(request, reply, { db, one, user, values, errors: { '': error.text.en, ...errors } })
      }
    },
  )
}

const valuesIn = (sent: object, names: readonly string[]): Values =>
  Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const value: unknown = Object(sent)[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )

const actData = ({ title, lead, path }: UserAct, user: User): ActData => ({
  title,
  lead,
  name: personName(user),
  userPath: userPath(user.user_id),
  path: `${userPath(user.user_id)}/${path}`,
})

interface FormOptions {
  readonly db: Kysely<Tables>
  readonly one: UserAct
  readonly user: User
  readonly values: Values
  readonly errors?: Values
}

async function sendForm(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, one, user, values, errors }: FormOptions,
): Promise<FastifyReply> {
  const inputs = await one.inputsOf(db, user)
  return sendPage(request, reply, formTemplate, {
    title: one.title,
    status: errors === undefined ? 200 : 422,
    data: {
      ...actData(one, user),
      problem: errors === undefined ? null : (errors[''] ?? 'This cannot be done so: see below.'),
      inputs: inputs.map((input) => ({
        ...input,
        value: values[input.name] ?? input.value ?? '',
        error: errors?.[input.name] ?? null,
      })),
    },
  })
}

function sendReview(
  request: FastifyRequest,
  reply: FastifyReply,
  one: UserAct,
  user: User,
  values: Values,
  { given, changes, button }: Exclude<Review, { errors: Values }>,
): Promise<FastifyReply> {
  const data = actData(one, user)
  const columns = [
    { title: 'What', cell: ({ what }: Change) => what },
    { title: 'Now', isNumber: true, cell: ({ from }: Change) => from },
    { title: 'After', isNumber: true, cell: ({ to }: Change) => to },
  ]
  return sendPage(request, reply, reviewTemplate, {
    title: `${one.title}: review`,
    data: {
      ...data,
      given,
      table: partTable({ label: 'What would change', columns, rows: changes, empty: 'Nothing.' }),
      values: Object.entries(values),
      button,
      editHref: one.names.length === 0 ? null : addressWith(data.path, values),
    },
  })
}
