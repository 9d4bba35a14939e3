// Types of every document in src, and what the cache has to know of the schema.
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
    'src/gql/graphcache.ts': { plugins: ['./graphcache-plugin.mjs'] },
  },
};

export default config;
