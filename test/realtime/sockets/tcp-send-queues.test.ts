import { networkInterfaces } from 'node:os'
import { test } from 'tap'
import { connectionKey, parseSendQueues, readSendQueues } from '../../../src/realtime/sockets/tcp-send-queues.ts'
import { until } from '../../harness/until.ts'
import { tcpPair } from './tcp-pair.ts'

test('send queues are parsed from /proc/net/tcp', (t) => {
  const line = (sl: number, local: string, remote: string, state: string, queue: string) =>
    `   ${sl}: ${local} ${remote} ${state} ${queue}:00000000 01:00000014 00000000     0        0 123 2 0 20 4 30 10 -1`
  const loopback = '0100007F:0BB8'
  const text = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    line(0, loopback, '00000000:0000', '0A', '00100000'),
    line(1, loopback, '0100007F:C000', '01', '00000000'),
    line(2, loopback, '0100007F:C001', '01', '0000001C'),
    line(3, loopback, '0200007F:C001', '01', '10000000'),
    line(4, loopback, '0100007F:C003', '06', '10000000'),
    // As IPv6 maps IPv4, and IPv6 itself.
    line(5, '0000000000000000FFFF00000100007F:0BB8', '0000000000000000FFFF00000100000A:C004', '01', '00123456'),
    line(6, '000080FE00000000FF005450AB89DEFE:0BB8', 'B80D0120000000000000000001000000:C004', '01', '00200000'),
    '',
  ].join('\n')
  const expected: readonly (readonly [string, string, number, number | undefined])[] = [
    ['127.0.0.1', '127.0.0.1', 0xc000, 0],
    ['127.0.0.1', '127.0.0.1', 0xc001, 28],
    // Another address with the same ports.
    ['127.0.0.1', '127.0.0.2', 0xc001, 0x10000000],
    ['127.0.0.2', '127.0.0.1', 0xc001, undefined],
    ['127.0.0.1', '127.0.0.1', 0xc003, undefined],
    ['::ffff:127.0.0.1', '::ffff:10.0.0.1', 0xc004, 0x123456],
    ['fe80::5054:ff:fede:89ab%eth0', '2001:db8::1', 0xc004, 0x200000],
  ]
  // The kernel ends what it gives at once anywhere.
  for (const length of [text.length, 1, 7, 100]) {
    const queues = new Map<string | undefined, number>()
    let rest = ''
    for (let at = 0; at < text.length; at += length) {
      rest = parseSendQueues(rest + text.slice(at, at + length), (key, bytes) => queues.set(key, bytes))
    }
    t.equal(rest, '')
    t.equal(queues.size, 5)
    for (const [localAddress, remoteAddress, remotePort, bytes] of expected) {
      const key = connectionKey({ localAddress, localPort: 3000, remoteAddress, remotePort })
      t.equal(queues.get(key), bytes, `${localAddress} ${remoteAddress}`)
    }
  }
  t.end()
})

test('connection keys match between the kernel and Node', { skip: process.platform !== 'linux' }, async (t) => {
  const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
  for (const host of hasIPv6 ? ['127.0.0.1', '::1'] : ['127.0.0.1']) {
    const { socket } = await tcpPair(t, host)
    const wanted = connectionKey(socket)
    let totalMs = 0
    const read = async () => {
      const found: number[] = []
      const busyMs = await readSendQueues((key, bytes) => void (key === wanted && found.push(bytes)))
      t.ok(busyMs !== null && busyMs >= 0)
      totalMs += busyMs ?? 0
      return found
    }
    // The kernel may list a connection twice or not at all when others begin and end between two slices.
    await until(async () => (await read()).includes(0))
    socket.write(Buffer.alloc(16 * 1024 * 1024))
    await until(async () => ((await read())[0] ?? 0) > 0)
    // The clock of a thread's CPU may be coarser than one reading.
    await until(async () => (await read()).length > 0 && totalMs > 0)
    socket.destroy()
    t.equal(connectionKey(socket), undefined)
  }
})
