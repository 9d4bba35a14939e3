// Reads the schema and every document in src, and writes their types to src/gql.
import type { CodegenConfig } from '@graphql-codegen/cli';

const config: CodegenConfig = {
  // Or a server in the development profile: http://127.0.0.1:4000/graphql
  schema: '../../../schema.graphql',
  documents: 'src/**/*.ts',
  // For Node.js. A bundler needs no extension.
  importExtension: '.js',
  generates: {
    'src/gql/': {
      preset: 'client',
      // Fragments are plain types here, without masking.
      presetConfig: { fragmentMasking: false },
      config: {
        scalars: {
          DateTime: 'string',
          Date: 'string',
          Decimal: { input: 'string | number', output: 'string' },
        },
        // The build stops at a scalar that is not listed above.
        strictScalars: true,
        // For `verbatimModuleSyntax`, which Vite's templates set.
        useTypeImports: true,
        // Enums get new values: a switch over one needs a default branch.
        futureProofEnums: true,
      },
    },
  },
};

export default config;
