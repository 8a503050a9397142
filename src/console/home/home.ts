import type { ConsolePages } from '../console-services.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'

const template = defineTemplate<object>('/home/home.eta')

/** /console: the state of the books and of the service. */
export const homePages: ConsolePages = (scope) => {
  scope.get('/', (request, reply) => sendPage(request, reply, template, { title: 'Home', data: {} }))
}
