/** Every client route answers under both. */
export const clientPrefixes = ['/api/v1', '/v1'] as const
export type ClientPrefix = (typeof clientPrefixes)[number]
