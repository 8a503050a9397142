import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'

/** A form that was not saved, since something else is stored than its review showed. */
export interface ConflictPage {
  readonly path: string
  readonly message: string
  readonly next: { readonly href: string; readonly text: string }
}

const template = defineTemplate<ConflictPage>('/catalogue/conflict.eta')

export const sendConflict = (request: FastifyRequest, reply: FastifyReply, data: ConflictPage): Promise<FastifyReply> =>
  sendPage(request, reply, template, { title: 'Nothing was saved', status: 412, data })
