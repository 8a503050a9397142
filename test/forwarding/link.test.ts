import { statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { test } from 'tap'
import type { CatchUp } from '../../src/forwarding/command-router.ts'
import { connectToNetwork, connectToSocket, listenOnNetwork, listenOnSocket } from '../../src/forwarding/endpoints.ts'
import { encodeFrame } from '../../src/forwarding/messages.ts'
import { RefusedByWriter } from '../../src/forwarding/writer-link.ts'
import type { Command } from '../../src/ledger/executor/command.ts'
import type { CommandResult } from '../../src/ledger/executor/command-queue.ts'
import { Closed, Overloaded, Unavailable } from '../../src/ledger/executor/failures.ts'
import { storedEvent } from '../harness/ledger/stored-event.ts'
import { reservePort } from '../harness/process/reserve-port.ts'
import { until } from '../harness/until.ts'
import {
  causeWith,
  echo,
  echoCommand,
  executorOf,
  openLink,
  presentRefusal,
  resultOf,
  socketFile,
} from './link-fixture.ts'

const rejection = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error)

const answering = (position: number) => executorOf(async (command) => resultOf(command, position))
const failing = (error: Error) =>
  executorOf(async () => {
    throw error
  })
const neverHere = failing(new Error('this instance ran a command itself'))

/** Never answers; `ran` is how many commands it was given. */
function hanging() {
  const hung = { ran: 0, runs: executorOf(() => new Promise(() => void (hung.ran += 1))) }
  return hung
}

test('commands of one turn go out in one write, and each gets its own answer', async (t) => {
  const sizes: number[] = []
  let turn = 0
  const writer = executorOf((command) => {
    turn += 1
    queueMicrotask(() => {
      if (turn > 0) sizes.push(turn)
      turn = 0
    })
    return Promise.resolve(resultOf(command))
  })
  const { router } = await openLink(t, writer, neverHere)
  const results = await Promise.all(Array.from({ length: 50 }, (_, i) => router.run(echoCommand(i + 1))))
  t.same(
    results.map(({ reply }) => JSON.parse(reply.body).input.count),
    Array.from({ length: 50 }, (_, i) => i + 1),
  )
  t.same(sizes, [50])
  t.equal(router.forwarded, 50)
})

test('the writer replies in the language of the request', async (t) => {
  const writer = executorOf(async (command) => ({
    ...resultOf(command),
    reply: command.refusalReply({ refusal: 'game_full' }),
  }))
  const { router } = await openLink(t, writer, neverHere)
  const bodyIn = async (language: 'ar' | undefined) => {
    const { reply } = await router.run(echo.command({ count: 1 }, { ...causeWith(null), language }, presentRefusal))
    return JSON.parse(reply.body)
  }
  t.match(await bodyIn('ar'), { refusal: 'game_full', language: 'ar' })
  t.equal((await bodyIn(undefined)).language, undefined, 'without one it is English')
})

test('errors keep their meaning', async (t) => {
  const tooMany = Object.assign(new Error('too many clients'), { code: '53300' })
  const errors = [
    new Overloaded('full'),
    new Unavailable('no connection', { cause: tooMany }),
    new Unavailable('away'),
    new TypeError('a bug'),
  ]
  const writer = executorOf(() => Promise.reject(errors.shift()))
  const { router } = await openLink(t, writer, neverHere)
  t.ok((await rejection(router.run(echoCommand(1)))) instanceof Overloaded)
  t.ok((await rejection(router.run(echoCommand(1)))) instanceof Overloaded, 'refused before anything was started')
  const away = await rejection(router.run(echoCommand(1)))
  t.ok(away instanceof Unavailable)
  t.match(away, { message: 'away' })
  const bug = await rejection(router.run(echoCommand(1)))
  t.match(bug, { message: /failed on the writer: TypeError: a bug/ })
  t.notOk(bug instanceof Unavailable || bug instanceof Overloaded)
})

test('the writer validates inputs by the schema of the verb', async (t) => {
  const { router } = await openLink(t, answering(1), neverHere)
  await t.rejects(router.run(echoCommand(0)), /does not accept this input of echo/)
  const unknown = { ...echoCommand(1), call: { verb: 'missing', input: {} } }
  await t.rejects(router.run(unknown), /does not accept this input of missing/)
  t.equal((await router.run(echoCommand(1))).reply.status, 200, 'the connection is as good as before')
})

test('a command whose answer is lost is run again under its idempotency key, and never without one', async (t) => {
  const ran: string[] = []
  const waiting = Promise.withResolvers<CommandResult>()
  const { router, sockets } = await openLink(
    t,
    executorOf(() => waiting.promise),
    executorOf(async (command) => {
      ran.push(command.cause.idempotency?.key ?? 'none')
      return resultOf(command, 7)
    }),
  )
  const keyed = router.run(echoCommand(1, 'k'))
  const keyless = router.run(echoCommand(2))
  keyless.catch(() => {})
  await until(() => (sockets[0]?.bytesRead ?? 0) > 200)
  sockets[0]?.destroy()
  t.match(await keyed, { position: 7 })
  t.ok((await rejection(keyless)) instanceof Unavailable)
  t.same(ran, ['k'])
  t.equal(router.lost, 2)
  t.match(await router.run(echoCommand(3)), { position: 7 }, 'without a writer it runs commands itself')
})

/** Runs a command under a key whose answer is lost, with what this instance makes of it then. */
async function loseAnswer(
  t: Parameters<typeof openLink>[0],
  own: (command: Command) => Promise<CommandResult>,
  catchUp?: CatchUp,
): Promise<CommandResult> {
  const { router, sockets } = await openLink(
    t,
    hanging().runs,
    executorOf(own),
    catchUp === undefined ? {} : { catchUp },
  )
  const command = echoCommand(1, 'k')
  const { cause } = command
  const discardRefusal = true
  const limited = { ...command, cause: { ...cause, idempotency: { key: 'k', requestHash: 'h', discardRefusal } } }
  const result = router.run(limited)
  result.catch(() => {})
  await until(() => (sockets[0]?.bytesRead ?? 0) > 100)
  sockets[0]?.destroy()
  return result
}

test('the second run of a command stores its reply, even a refusal that would be discarded', async (t) => {
  const result = await loseAnswer(t, async (command) => {
    t.match(command.cause.idempotency, { key: 'k', requestHash: 'h', discardRefusal: false })
    return resultOf(command, 7)
  })
  t.match(result, { position: 7 })
})

test('an error of the second run says nothing of the first: the outcome is unknown', async (t) => {
  for (const error of [new Overloaded('full'), new Unavailable('away'), new Closed('shutting down')]) {
    const found = await rejection(loseAnswer(t, () => Promise.reject(error)))
    t.ok(found instanceof Unavailable)
    t.match(found, { message: 'the outcome of the command is unknown', cause: error })
  }
})

test('a command that was done already is answered once this instance has applied it', async (t) => {
  const order: string[] = []
  await loseAnswer(
    t,
    async (command) => ({ ...resultOf(command, 7), isRepeat: true }),
    async (position) => {
      order.push(`applied ${position}`)
      return true
    },
  ).then(() => order.push('answered'))
  t.same([order[0], order.at(-1)], ['applied 7', 'answered'])
  const repeat = async (command: Command) => ({ ...resultOf(command, 7), isRepeat: true })
  const behind = loseAnswer(t, repeat, async () => false)
  t.ok((await rejection(behind)) instanceof Unavailable)
  const positions: number[] = []
  const retried = await openLink(t, executorOf(repeat), neverHere, {
    catchUp: async (position) => {
      positions.push(position)
      return false
    },
  })
  t.match(
    await retried.router.run(echoCommand(1, 'k')),
    { position: 7 },
    'a retry of the client is answered in any case',
  )
  t.same(positions, [7])
})

test('a writer that has resigned and answers nothing is given up', async (t) => {
  const writer = hanging()
  const { router, server } = await openLink(t, writer.runs, answering(3))
  const pending = router.run(echoCommand(1, 'k'))
  const keyless = rejection(router.run(echoCommand(1)))
  await until(() => writer.ran === 2)
  const resigned = server.resign()
  t.match(await pending, { position: 3 })
  t.match(await keyless, { message: /outcome of the command/ })
  await resigned
  t.equal(router.lost, 2)
})

test('after it was cut, a router takes no link', async (t) => {
  const own = answering(2)
  const { router } = await openLink(t, neverHere, own)
  await router.cut()
  const { link } = await openLink(t, neverHere, neverHere)
  router.use(link)
  await link.closed
  t.match(await router.run(echoCommand(1)), { position: 2 })
})

test('a command that the writer has not run is run again, with or without a key', async (t) => {
  const { router, server } = await openLink(t, failing(new Closed('shutting down')), answering(5))
  t.match(await router.run(echoCommand(1)), { position: 5 })
  const resigned = server.resign()
  t.match(await router.run(echoCommand(2)), { position: 5 })
  await resigned
  t.equal(router.lost, 0)
})

test('a process that is the writer no longer runs nothing', async (t) => {
  let isWriter = true
  const { router, link } = await openLink(t, answering(1), answering(2), { isWriter: () => isWriter })
  t.match(await router.run(echoCommand(1)), { position: 1 })
  isWriter = false
  t.match(await router.run(echoCommand(1)), { position: 2 })
  await link.closed
})

test('events are there before the answers that follow', async (t) => {
  const { entry } = storedEvent(1)
  const link = await openLink(
    t,
    executorOf(async (command) => {
      link.server.share([entry])
      return resultOf(command)
    }),
    neverHere,
  )
  const events = link.router.run(echoCommand(1)).then(() => link.events.length)
  t.equal(await events, 1)
  t.same(link.events, [entry])
})

test('an instance of another version is refused; one that means another writer may look for it again', async (t) => {
  const writer = answering(1)
  await t.rejects(openLink(t, writer, neverHere, { version: 'w' }), {
    constructor: RefusedByWriter,
    message: 'the writer runs another version',
  })
  for (const options of [{ writer: 'x' }, { isWriter: () => false }]) {
    const error = await rejection(openLink(t, writer, neverHere, options))
    t.match(error, { message: 'the writer cannot be reached' })
    t.notOk(error instanceof RefusedByWriter)
  }
})

test('a connection that does not speak the protocol is closed', async (t) => {
  const path = socketFile(t)
  await openLink(t, neverHere, neverHere, {
    listen: (accept) => listenOnSocket(path, accept),
    connect: () => connect(path),
  })
  t.equal(statSync(path).mode & 0o777, 0o600)
  const closedAfter = async (bytes: Buffer): Promise<void> => {
    const socket = connect(path)
    socket.write(bytes)
    socket.resume()
    await new Promise((resolve) => socket.once('close', resolve))
  }
  await closedAfter(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
  await closedAfter(encodeFrame('{"commands":[]}'))
  await closedAfter(encodeFrame('{"hello":1}'))
  await closedAfter(Buffer.from([0, 1, 0, 0]))
  t.pass()
})

test('a writer that says nothing is given up', async (t) => {
  const path = socketFile(t)
  const silent: Socket[] = []
  const { router, sockets, link } = await openLink(t, hanging().runs, answering(3))
  const pending = router.run(echoCommand(1, 'k'))
  await until(() => sockets.length === 1)
  // Nothing that the server writes arrives any more.
  const [socket] = sockets
  if (socket !== undefined) socket.write = () => true
  t.match(await pending, { position: 3 })
  await link.closed
  await listenOnSocket(path, (accepted) => silent.push(accepted)).then((server) =>
    t.teardown(() => void server.close()),
  )
  await t.rejects(
    openLink(t, neverHere, neverHere, { connect: () => connectToSocket(path) }),
    'nor is one that does not welcome waited for',
  )
  for (const accepted of silent) accepted.destroy()
})

test('more commands than may wait are refused, and nothing of them is done', async (t) => {
  const writer = hanging()
  const { router } = await openLink(t, writer.runs, neverHere)
  const running = Array.from({ length: 16_385 }, () => router.run(echoCommand(1)))
  for (const one of running) one.catch(() => {})
  const last = await running.at(-1)?.catch((error: unknown) => error)
  t.ok(last instanceof Overloaded)
  await until(() => writer.ran === 16_384)
})

test('all that is in flight is waited for', async (t) => {
  const first = Promise.withResolvers<void>()
  const { router } = await openLink(
    t,
    executorOf(async (command) => {
      await first.promise
      return resultOf(command)
    }),
    neverHere,
  )
  const order: string[] = []
  const running = router.run(echoCommand(1)).then(() => order.push('answered'))
  const waiting = router.waitForInFlight().then(() => order.push('waited'))
  first.resolve()
  await Promise.all([waiting, running])
  t.same(order, ['answered', 'waited'])
})

test('between hosts both ends must have the key', async (t) => {
  const port = await reservePort()
  const key = 'a key for forwarding that is long enough'
  const overNetwork = {
    listen: (accept: (socket: Socket) => void) => listenOnNetwork({ host: '127.0.0.1', port, key }, accept),
  }
  const { router } = await openLink(t, answering(9), neverHere, {
    ...overNetwork,
    connect: () => connectToNetwork(`127.0.0.1:${port}`, key),
  })
  t.match(await router.run(echo.command({ count: 1 }, causeWith(null), presentRefusal)), { position: 9 })
  const otherPort = await reservePort()
  await t.rejects(
    openLink(t, neverHere, neverHere, {
      listen: (accept) => listenOnNetwork({ host: '127.0.0.1', port: otherPort, key }, accept),
      connect: () => connectToNetwork(`127.0.0.1:${otherPort}`, `${key}!`),
    }),
  )
  await t.rejects(openLink(t, neverHere, neverHere, { connect: () => connect(port, '127.0.0.1') }), 'without TLS')
})
