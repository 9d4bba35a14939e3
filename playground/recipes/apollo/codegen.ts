// Types of every document in src, and the possible types of each interface for the cache.
import type { CodegenConfig } from '@graphql-codegen/cli';

const config: CodegenConfig = {
  schema: '../../../schema.graphql',
  documents: 'src/**/*.ts',
  importExtension: '.js',
  generates: {
    'src/gql/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        scalars: { DateTime: 'string', Date: 'string', Decimal: { input: 'string | number', output: 'string' } },
        strictScalars: true,
        useTypeImports: true,
      },
    },
    'src/gql/possible-types.ts': { plugins: ['fragment-matcher'] },
  },
};

export default config;
