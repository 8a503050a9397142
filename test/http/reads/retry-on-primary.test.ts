import { fastify } from 'fastify'
import { DatabaseError } from 'pg'
import { test } from 'tap'
import { retryOnPrimary } from '../../../src/http/reads/retry-on-primary.ts'

const failure = (code: string): Error => Object.assign(new DatabaseError('failed', 6, 'error'), { code })

test('what fails on the standby is read as a whole from the primary', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.decorateRequest('readsStandby', false)
  app.addHook('onRequest', async (request) => {
    request.readsStandby = request.headers['x-standby'] === 'yes'
  })
  app.addHook('onRoute', retryOnPrimary)
  let error = failure('57P01')
  app.get('/page', async (request) => {
    const first = request.readsStandby ? 'standby' : 'primary'
    await Promise.resolve()
    if (request.readsStandby) throw error
    return { first, second: 'primary' }
  })
  app.get('/broken', async () => {
    throw error
  })
  const read = async (url: string) => {
    const { statusCode, body } = await app.inject({ url, headers: { 'x-standby': 'yes' } })
    return { status: statusCode, body }
  }
  const whole = { status: 200, body: '{"first":"primary","second":"primary"}' }
  for (const code of ['57P01', '08006', '40001', '42P01', '42703']) {
    error = failure(code)
    t.match(await read('/page'), whole, code)
  }
  error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  t.match(await read('/page'), whole)
  t.equal((await read('/broken')).status, 500, 'the primary is asked once')
  for (const code of ['53300', '57014', '22P02']) {
    error = failure(code)
    t.equal((await read('/page')).status, 500, code)
  }
})
