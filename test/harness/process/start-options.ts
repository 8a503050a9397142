/** The smallest environment that production accepts, without a database. */
export const production = {
  NODE_ENV: 'production',
  JWT_SECRET: 'a secret for production, and long enough',
  FAIRNESS_KEY: 'fa'.repeat(32),
  PII_KEY: '91'.repeat(32),
  CHECKPOINT_KEY: 'c4'.repeat(32),
  PUBLIC_URL: 'https://economy.example',
  ASSET_BASE_URL: 'https://economy.example/assets',
}
