// Real PostgreSQL and Temporal, started once (global set-up); two test files at a time, each with a database of its own.
export default {
  testEnvironment: '<rootDir>/test/support/environment.js',
  testSequencer: '<rootDir>/test/support/sequencer.js',
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript' },
          target: 'es2024',
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  maxWorkers: 2,
  // Modules of a file stay in memory: without a limit, a worker runs out of it within two hundred files.
  workerIdleMemoryLimit: '1GB',
  testTimeout: 60_000,
}
