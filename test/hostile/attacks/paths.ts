import { METHODS } from 'node:http'
import { jsonType, withToken } from '../../harness/http/request.ts'
import type { AttackRun, Probe } from '../attack-run.ts'
import { operatorToken, userToken } from '../callers.ts'

/** The same path in other words. */
const tricks: Readonly<Record<string, (path: string) => string>> = {
  'a slash at its end': (path) => `${path}/`,
  'two slashes at its end': (path) => `${path}//`,
  'two slashes at its start': (path) => `/${path}`,
  'two slashes within': (path) => path.replace('/v1/', '/v1//'),
  'dots within': (path) => path.replace('/v1/', '/v1/./'),
  'dots that lead up and back': (path) => path.replace('/v1/', '/v1/x/../'),
  'encoded dots': (path) => path.replace('/v1/', '/v1/x/%2e%2e/'),
  'dots that lead out of another prefix': (path) => `/docs/..${path}`,
  'encoded slashes': (path) => path.replaceAll('/', '%2f').replace('%2f', '/'),
  'encoded letters': (path) => path.replace('v1', '%761'),
  'letters encoded twice': (path) => path.replace('v1', '%25761'),
  capitals: (path) => path.toUpperCase(),
  'a parameter': (path) => `${path};jsessionid=1`,
  'a NUL': (path) => `${path}%00`,
  'a line break': (path) => `${path}%0d%0aX-Injected:%201`,
  'half a character': (path) => `${path}%c3`,
  'half an escape': (path) => `${path}%`,
  'an overlong slash': (path) => path.replace('/v1/', '/v1%c0%af'),
  'a backslash': (path) => path.replace('/v1/', '/v1%5c'),
  'a suffix': (path) => `${path}.json`,
  'a fragment': (path) => `${path}#x`,
  'a question': (path) => `${path}?`,
  'many questions': (path) => `${path}???&&&`,
  'another origin': (path) => `http://evil.example${path}`,
  'another origin, half an escape': (path) => `http://evil.example${path}%`,
  'no origin': (path) => `https://${path}`,
  'a name before it': (path) => `/x${path}`,
  'a name behind it': (path) => `${path}/x`,
  'its prefix left out': (path) => path.replace(/^\/(api\/)?v1/, ''),
  'its prefix twice': (path) => path.replace(/^(\/(api\/)?v1)/, '$1$1'),
  'another version': (path) => path.replace('v1', 'v2'),
  'a very long name behind it': (path) => `${path}/${'x'.repeat(6_000)}`,
  'very many names behind it': (path) => `${path}${'/x'.repeat(3_000)}`,
}

/** Methods that Node reads; CONNECT is no request for a path. */
const methods = METHODS.filter((method) => method !== 'CONNECT')

/** Every route by other paths and methods, without a token, which must never open it, and with one. */
export const paths = ({ routes }: AttackRun): readonly Probe[] =>
  routes.flatMap((route) => {
    const path = route.path.replaceAll(/\{\w+\}/g, '1')
    const needsToken = route.kind === 'client' || route.kind === 'admin'
    const ways = [
      ...Object.entries(tricks).map(([name, way]) => ({ name, method: route.method, path: way(path) })),
      ...methods.map((method) => ({ name: `by ${method}`, method, path })),
    ]
    return ways.flatMap(({ name, ...way }) =>
      [null, route.kind === 'admin' ? operatorToken() : userToken(1)].map((token): Probe => {
        const why = `${route.name}: ${name}${token === null ? ', without a token' : ''}`
        const faultIn: Probe['faultIn'] = ({ status }) =>
          token === null && needsToken && status < 400 ? 'without a token' : null
        return { why, request: withToken({ ...way, headers: [jsonType], body: null }, token), faultIn }
      }),
    )
  })
