// A plugin for graphql-codegen: the schema for Graphcache, and the types without a key.
import { minifyIntrospectionQuery } from '@urql/introspection';
import { introspectionFromSchema, isObjectType } from 'graphql';

export const plugin = (schema) => {
  const introspection = minifyIntrospectionQuery(introspectionFromSchema(schema));
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const objects = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) && !type.name.startsWith('__'));
  const withoutId = objects.filter((type) => !roots.includes(type) && !('id' in type.getFields()));
  return [
    `export const schema = ${JSON.stringify(introspection)} as const;`,
    '// A type without an id is stored within its parent.',
    'const embedded = () => null;',
    `export const keys = { ${withoutId.map(({ name }) => `${name}: embedded`).join(', ')} };`,
  ].join('\n');
};
