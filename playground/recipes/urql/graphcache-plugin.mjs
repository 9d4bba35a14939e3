// A plugin of graphql-codegen: what Graphcache has to know of the schema.
import { minifyIntrospectionQuery } from '@urql/introspection';
import { introspectionFromSchema, isObjectType } from 'graphql';

export const plugin = (schema) => {
  const introspection = minifyIntrospectionQuery(introspectionFromSchema(schema));
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const objects = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) && !type.name.startsWith('__'));
  const withoutId = objects.filter((type) => !roots.includes(type) && !('id' in type.getFields()));
  return [
    `export const schema = ${JSON.stringify(introspection)} as const;`,
    '// Has no entry of its own in the cache, and is kept inside of its parent.',
    'const embedded = () => null;',
    `export const keys = { ${withoutId.map(({ name }) => `${name}: embedded`).join(', ')} };`,
  ].join('\n');
};
