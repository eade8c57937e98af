// Real engines, started once (global set-up); two test files at a time, each with a database of its own.
export default {
  testEnvironment: '<rootDir>/test/rig/environment.js',
  testSequencer: '<rootDir>/test/rig/sequencer.js',
  globalSetup: '<rootDir>/test/rig/global-setup.ts',
  globalTeardown: '<rootDir>/test/rig/global-teardown.ts',
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
  testTimeout: 60_000,
}
