import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import { needsProposal } from '../../../features/proposals/reads.ts'
import type { App } from '../../../features/services.ts'
import { HttpError } from '../../../http/errors/http-error.ts'
import type { ConsoleServices } from '../../console-services.ts'
import type { FormField } from '../../forms/fields.ts'
import { readSentValues, type Values, valuesSchema } from '../../forms/values.ts'
import { act, actFields, expectsField, isConflict } from '../../frame/act.ts'
import { addressWith } from '../../frame/address.ts'
import type { Cell } from '../../frame/cells/cells.ts'
import { userPath } from '../../frame/cells/links.ts'
import { sendPage } from '../../frame/send-page.ts'
import { defineTemplate } from '../../frame/template.ts'
import { partTable, type Table } from '../../lists/list.ts'
import { requireOperator } from '../../session/require-operator.ts'
import { staffOf } from '../../session/session-check.ts'
import { personName } from '../person.ts'
import { findUser, type User } from '../user/find-user.ts'
import { addToBagAct } from './add-to-bag.ts'
import { endSessionsAct } from './end-sessions.ts'
import { flagsAct } from './flags.ts'
import { grantCardsAct } from './grant-cards.ts'
import { creditAct, debitAct } from './move-balance.ts'
import type { Change, Review, UserAct } from './user-act.ts'

const acts: readonly UserAct[] = [creditAct, debitAct, grantCardsAct, addToBagAct, flagsAct, endSessionsAct]

interface ActData {
  readonly title: string
  readonly lead: string
  readonly name: string
  readonly userPath: string
  readonly path: string
  /** Whether the page says that no second member of staff has to approve it. */
  readonly isDoneAlone: boolean
}

interface FormData extends ActData {
  /** Of the form as a whole; null without one. */
  readonly problem: string | null
  readonly fields: readonly FormField[]
  readonly values: Values
  /** By field. */
  readonly errors: Values
}

interface ReviewData extends ActData {
  readonly given: readonly (readonly [string, Cell])[]
  readonly table: Table
  readonly values: Values
  readonly button: string
  /** Beyond the limit of who does it: a second member of staff has to approve it. */
  readonly isProposed: boolean
  /** The version that is changed; null for what has none. */
  readonly expects: string | null
  /** The form with what was typed; null for an act without fields. */
  readonly editHref: string | null
}

const CHANGED_MEANWHILE = 'Somebody changed this user after your review. Your change was not made: review it again.'

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
  const fields = valuesSchema(names)
  const querystring = Type.Object({ ...fields, review: Type.Optional(Type.String({ maxLength: 1 })) })

  scope.get(`/users/:id/${path}`, { schema: { querystring } }, async (request, reply) => {
    requireOperator(request)
    const { db } = await services.chooseReportDatabase()
    const user = await findUser(db, request.params)
    const values = readSentValues(names, request.query)
    if (names.length > 0 && request.query.review === undefined)
      return sendForm(request, reply, { db, one, user, values })
    const review = await one.review(db, user, values)
    if ('errors' in review) return sendForm(request, reply, { db, one, user, values, errors: review.errors })
    const isProposed =
      review.limited !== undefined && (await needsProposal(db, `staff:${staffOf(request).sub}`, [review.limited]))
    return sendReview(request, reply, { one, user, values, review, isProposed })
  })

  scope.post(
    `/users/:id/${path}`,
    {
      schema: { body: Type.Object({ ...fields, ...actFields, ...Type.Partial(Type.Object(expectsField)).properties }) },
    },
    async (request, reply) => {
      const { db } = await services.chooseReportDatabase()
      const user = await findUser(db, request.params)
      const values = readSentValues(names, request.body)
      const { done, requestOf } = one
      try {
        const { key, expects } = request.body
        const toDo = { ...requestOf(user.user_id, values), expects, key, back: userPath(user.user_id), done }
        return await act(request, reply, services, toDo)
      } catch (error) {
        if (isConflict(error)) {
          return sendForm(request, reply, { db, one, user, values, errors: { '': CHANGED_MEANWHILE }, status: 412 })
        }
        if (!(error instanceof HttpError) || error.status !== 422 || names.length === 0) throw error
        const errors = Object.fromEntries(
          Object.entries(error.errors ?? {}).map(([name, texts]) => [name, texts.map(({ en }) => en).join(' ')]),
        )
        return sendForm(request, reply, { db, one, user, values, errors: { '': error.text.en, ...errors } })
      }
    },
  )
}

const actData = ({ title, lead, path, isDoneAlone = false }: UserAct, user: User): ActData => ({
  title,
  lead,
  name: personName(user),
  userPath: userPath(user.user_id),
  path: `${userPath(user.user_id)}/${path}`,
  isDoneAlone,
})

interface FormOptions {
  readonly db: Kysely<Tables>
  readonly one: UserAct
  readonly user: User
  readonly values: Values
  readonly errors?: Values
  readonly status?: number
}

async function sendForm(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, one, user, values, errors, status = errors === undefined ? 200 : 422 }: FormOptions,
): Promise<FastifyReply> {
  const fields = await one.fieldsOf(db, user)
  return sendPage(request, reply, formTemplate, {
    title: one.title,
    status,
    data: {
      ...actData(one, user),
      problem: errors === undefined ? null : (errors[''] ?? 'This cannot be done so: see below.'),
      fields,
      values: { ...Object.fromEntries(fields.map(({ name, value = '' }) => [name, value])), ...values },
      errors: errors ?? {},
    },
  })
}

interface ReviewOptions extends Pick<FormOptions, 'one' | 'user' | 'values'> {
  readonly review: Exclude<Review, { errors: Values }>
  readonly isProposed: boolean
}

function sendReview(
  request: FastifyRequest,
  reply: FastifyReply,
  { one, user, values, review, isProposed }: ReviewOptions,
): Promise<FastifyReply> {
  const { given, changes, button, expects = null, sent = values } = review
  const data = actData(one, user)
  const columns = [
    { title: 'What', cell: ({ what }: Change) => what },
    { title: 'Now', isNumber: true, cell: ({ from }: Change) => from },
    { title: isProposed ? 'Once approved' : 'After', isNumber: true, cell: ({ to }: Change) => to },
  ]
  return sendPage(request, reply, reviewTemplate, {
    title: `${one.title}: review`,
    data: {
      ...data,
      given,
      table: partTable({ label: 'What would change', columns, rows: changes, empty: 'Nothing.' }),
      values: sent,
      button: isProposed ? `Propose to ${button.charAt(0).toLowerCase()}${button.slice(1)}` : button,
      isProposed,
      expects,
      editHref: one.names.length === 0 ? null : addressWith(data.path, values),
    },
  })
}
