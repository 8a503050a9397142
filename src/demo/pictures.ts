import { fileURLToPath } from 'node:url'

/** The folder with the pictures of the demo catalogue, which `demo/catalogue.ts` names by their paths in it. */
export const demoPictures = fileURLToPath(new URL('pictures', import.meta.url))
