// Requests that are sent both to graphql-js and to the server. `rules` has documents for each of graphql-js's rules, `variables` has variables of
// every kind. A row with `differs` is one where the server decides otherwise, and why.

const home = 'homeTimeline { entries(first: $n) { edges { cursor } } }';
const input = (type, root, inner = 'userErrors { code }') => `mutation M($input: ${type}) { ${root}(input: $input) { ${inner} } }`;
const place = (type, at) => `query Q($v: ${type}) { ${at} }`;

// Each rule: documents that pass, documents that fail.
const rules = {
  ExecutableDefinitions: {
    passes: ['{ viewer { id } }', 'query A { viewer { id } }', 'fragment F on User { id } { viewer { ...F } }'],
    fails: ['{ viewer { id } } type A { b: Int }', 'schema { query: Query } { viewer { id } }', 'extend type User { a: Int } { viewer { id } }', '{ viewer { id } } scalar X', '{ viewer { id } } directive @a on FIELD'],
  },
  UniqueOperationNames: {
    passes: [['query A { viewer { id } } query B { viewer { id } }', 'A'], ['query A { viewer { id } } mutation B { logOut { userErrors { code } } }', 'A'], ['query A { viewer { ...A } } fragment A on User { id }', 'A']],
    fails: [['query A { viewer { id } } query A { viewer { login } }', 'A'], ['query A { viewer { id } } mutation A { logOut { userErrors { code } } }', 'A'], ['query A { viewer { id } } query B { viewer { id } } query A { viewer { id } }', 'B']],
  },
  LoneAnonymousOperation: {
    passes: ['{ viewer { id } }', '{ viewer { ...F } } fragment F on User { id }', ['query A { viewer { id } } query B { viewer { id } }', 'B']],
    fails: ['{ viewer { id } } { viewer { id } }', '{ viewer { id } } query B { viewer { id } }', ['query B { viewer { id } } { viewer { id } }', 'B'], '{ viewer { id } } mutation B { logOut { userErrors { code } } }'],
  },
  SingleFieldSubscriptions: {
    passes: ['subscription { statusEvents(filter: { track: ["a"] }) { cursor } }', 'subscription { ...F } fragment F on Subscription { statusEvents(filter: { track: ["a"] }) { cursor } }', 'subscription { a: homeTimelineEvents { cursor } a: homeTimelineEvents { __typename } }'],
    fails: [
      'subscription { a: homeTimelineEvents { cursor } b: homeTimelineEvents { cursor } }',
      'subscription { homeTimelineEvents { cursor } __typename }',
      'subscription { __typename }',
      'subscription { ...F } fragment F on Subscription { homeTimelineEvents { cursor } __typename }',
      'subscription { ... { homeTimelineEvents { cursor } } commentEvents(statusId: "x") { cursor } }',
      ['query Q { viewer { id } } subscription S { a: homeTimelineEvents { cursor } b: homeTimelineEvents { cursor } }', 'Q'],
    ],
  },
  KnownTypeNames: {
    passes: ['{ node(id: "x") { ... on User { id } } }', ['query Q($v: ID!) { node(id: $v) { id } }', null, { v: 'a' }], '{ viewer { ...F } } fragment F on Node { id }'],
    fails: ['{ node(id: "x") { ... on Nobody { id } } }', 'query Q($v: Strin) { viewer { id } user(login: $v) { id } }', 'query Q($v: [Nope!]) { viewer { id } nodes(ids: $v) { id } }', '{ viewer { ...F } } fragment F on Usr { id }', 'query Q($v: [[Nope]] = [[1]]) { nodes(ids: $v) { id } }', 'query Q($v: Nope! = 1) { node(id: $v) { id } }'],
  },
  FragmentsOnCompositeTypes: {
    passes: ['{ node(id: "x") { ... on Node { id } } }', '{ viewer { ... { id } } }', '{ viewer { ...F } } fragment F on User { id }'],
    fails: ['{ viewer { ... on String { id } } }', '{ viewer { ... on PostStatusInput { id } } }', '{ viewer { ...F } } fragment F on CommentSort { id }', '{ viewer { ...F } } fragment F on DateTime { id }', '{ viewer { ... on Boolean { id } } }'],
  },
  VariablesAreInputTypes: {
    passes: [['query Q($v: String!) { user(login: $v) { id } }', null, { v: 'a' }], [input('PostStatusInput!', 'postStatus'), null, { input: { message: 'a' } }], ['query Q($v: [ID!]!) { nodes(ids: $v) { id } }', null, { v: [] }]],
    fails: ['query Q($v: User) { user(login: $v) { id } }', 'query Q($v: [Node!]) { nodes(ids: $v) { id } }', 'query Q($v: StatusEvent!) { node(id: $v) { id } }', 'query Q($v: Query) { viewer { id } }', 'query Q($v: [[User]]) { viewer { id } }'],
  },
  ScalarLeafs: {
    passes: ['{ viewer { login } }', '{ viewer { profileTimeline { entries { pageInfo { hasNextPage } } } } }', '{ __typename }'],
    fails: ['{ viewer }', '{ viewer { login { a } } }', '{ viewer { profileTimeline } }', '{ __schema }', '{ viewer { createdAt { id } } }', '{ statusEventsSyncCursor { a } }', '{ __typename { a } }', '{ nodes(ids: []) }', '{ serverLimits { depth { a } } }'],
  },
  FieldsOnCorrectType: {
    passes: ['{ viewer { login alias: name } }', '{ node(id: "x") { __typename id } }', '{ __type(name: "User") { name } }', '{ __schema { queryType { name } } }'],
    fails: ['{ nope }', '{ viewer { lgoin } }', '{ node(id: "x") { login } }', '{ node(id: "x") { ... on Status { login } } }', '{ viewer { __schema { types { name } } } }', '{ viewer { a: nope } }', 'mutation { viewer { id } }', '{ viewer { ...F } } fragment F on User { nope }', '{ __type(name: "User") { nope } }', '{ postStatus(input: { message: "a" }) { status { id } } }'],
  },
  UniqueFragmentNames: {
    passes: ['{ viewer { ...A ...B } } fragment A on User { id } fragment B on User { id }', '{ viewer { ... on User { id } ... on User { login } } }'],
    fails: ['{ viewer { ...A } } fragment A on User { id } fragment A on User { login }', '{ viewer { id } } fragment A on User { id } fragment A on User { id }', '{ viewer { ...A ...B } } fragment B on User { id } fragment A on User { id } fragment B on User { id }'],
  },
  KnownFragmentNames: {
    passes: ['{ viewer { ...A } } fragment A on User { ...B } fragment B on User { id }', '{ ...A } fragment A on Query { viewer { id } }'],
    fails: ['{ ...Nope }', '{ viewer { ...Nope id } }', '{ viewer { ...A } } fragment A on User { ...Nope }', '{ viewer { ... on User { ...Nope } } }', '{ viewer { id ...nope } } fragment Nope on User { id }'],
  },
  NoUnusedFragments: {
    passes: ['{ viewer { ...A } } fragment A on User { id }', ['query A { viewer { id } } query B { viewer { ...F } } fragment F on User { id }', 'A'], '{ viewer { ...A } } fragment A on User { ...B } fragment B on User { id }'],
    fails: ['{ viewer { id } } fragment A on User { id }', '{ viewer { ...A } } fragment A on User { id } fragment B on User { id }', '{ viewer { id } } fragment A on User { ...B } fragment B on User { id }', 'query Q { viewer { id } } fragment A on Query { viewer { id } }', '{ viewer { ...A } } fragment A on User { id } fragment a on User { id }'],
  },
  PossibleFragmentSpreads: {
    passes: ['{ viewer { ... on Node { id } } }', '{ node(id: "x") { ... on Status { id } } }', '{ node(id: "x") { ...F } } fragment F on Comment { id }', '{ viewer { ... on User { id } } }'],
    fails: ['{ viewer { ... on Status { id } } }', '{ node(id: "x") { ... on Timeline { __typename } } }', '{ viewer { ...F } } fragment F on Comment { id }', '{ viewer { ... on StatusEvent { cursor } } }', '{ node(id: "x") { ... on StatusEvent { cursor } } }', '{ ... on Mutation { __typename } }'],
  },
  NoFragmentCycles: {
    passes: ['{ viewer { ...A ...B } } fragment A on User { ...B } fragment B on User { id }', '{ viewer { ...A ...A } } fragment A on User { id }'],
    fails: ['{ viewer { ...A } } fragment A on User { ...A }', '{ viewer { ...A } } fragment A on User { ...B } fragment B on User { ...A }', '{ node(id: "x") { ...A } } fragment A on Node { ... on Node { ...A } }', '{ viewer { id } } fragment A on User { ...A }', '{ viewer { ...A } } fragment A on User { ...B } fragment B on User { ...C } fragment C on User { ...B id }'],
  },
  UniqueVariableNames: {
    passes: [['query Q($a: ID!, $b: ID!) { a: node(id: $a) { id } b: node(id: $b) { id } }', null, { a: 'a', b: 'b' }], ['query A($a: ID!) { node(id: $a) { id } } query B($a: ID!) { node(id: $a) { id } }', 'A', { a: 'a' }]],
    fails: [['query Q($a: ID!, $a: ID!) { node(id: $a) { id } }', null, { a: 'a' }], ['query Q($a: ID!, $a: String!) { node(id: $a) { id } }', null, { a: 'a' }], ['query Q($a: ID!, $b: ID!, $a: ID!) { a: node(id: $a) { id } b: node(id: $b) { id } }', null, { a: 'a', b: 'b' }], ['query Q($a: Int, $a: Int) { homeTimeline { entries(first: $a) { edges { cursor } } } }', null, {}]],
  },
  NoUndefinedVariables: {
    passes: [['query Q($v: ID!) { ...F } fragment F on Query { node(id: $v) { id } }', null, { v: 'a' }], ['query Q($v: Boolean!) { viewer @include(if: $v) { id } }', null, { v: true }]],
    fails: ['{ node(id: $v) { id } }', ['query Q($a: ID!) { a: node(id: $a) { id } b: node(id: $b) { id } }', null, { a: 'a' }], '{ ...F } fragment F on Query { node(id: $v) { id } }', ['query A($v: ID!) { ...F } query B { ...F } fragment F on Query { node(id: $v) { id } }', 'A', { v: 'a' }], '{ viewer @skip(if: $v) { id } }', '{ nodes(ids: [$v]) { id } }', 'mutation { postStatus(input: { message: $v }) { status { id } } }'],
  },
  NoUnusedVariables: {
    passes: [
      ['query A($w: Boolean!) { a: __typename @include(if: $w) b: __typename }', null, { w: true }],
      ['query A($w: Boolean!) { __typename @skip(if: $w) }', null, { w: true }],
      ['query A($w: Boolean!) { ... @include(if: $w) { __typename } }', null, { w: false }],
      ['query A($w: Boolean!) { ...F @include(if: $w) } fragment F on Query { __typename }', null, { w: false }],
      ['query A($w: Boolean!) { ...F } fragment F on Query { viewer { __typename @skip(if: $w) } }', null, { w: false }],
    ],
    fails: ['query Q($v: Int) { viewer { id } }', ['query Q($v: ID!, $w: ID) { node(id: $v) { id } }', null, { v: 'a' }], 'query Q($v: Int = 3) { viewer { id } }', ['query A($v: ID!) { node(id: $v) { id } } query B($v: ID) { viewer { id } }', 'A', { v: 'a' }], 'query Q($v: Boolean!) { viewer { id } }', 'mutation M($v: String) { logOut { userErrors { code } } }'],
  },
  KnownDirectives: {
    passes: ['{ viewer @include(if: true) { id @skip(if: false) } }', '{ ... @include(if: true) { viewer { id } } }', '{ viewer { ...F @skip(if: false) } } fragment F on User { id }'],
    fails: ['{ viewer @nope { id } }', 'query Q @include(if: true) { viewer { id } }', '{ viewer { ...F } } fragment F on User @skip(if: true) { id }', '{ __typename @nope }', 'query Q($v: ID! @nope) { node(id: $v) { id } }', '{ viewer { id @deprecated } }', '{ viewer { id @specifiedBy(url: "a") } }', 'mutation M @skip(if: true) { logOut { userErrors { code } } }', '{ ... @nope { viewer { id } } }'],
  },
  UniqueDirectivesPerLocation: {
    passes: ['{ viewer @include(if: true) @skip(if: false) { id } }', '{ viewer @include(if: true) { id @include(if: true) } }'],
    fails: ['{ viewer @include(if: true) @include(if: true) { id } }', '{ viewer { id @skip(if: false) @skip(if: false) } }', '{ ... @include(if: true) @include(if: false) { viewer { id } } }', '{ viewer { ...F @skip(if: true) @skip(if: true) } } fragment F on User { id }', '{ __typename @include(if: true) @skip(if: false) @include(if: true) }'],
  },
  KnownArgumentNames: {
    passes: ['{ user(login: "a") { id } }', '{ viewer { followers(first: 1, after: null) { totalCount } } }', '{ __type(name: "User") { fields(includeDeprecated: true) { name } } }'],
    fails: ['{ user(login: "a", nope: 1) { id } }', '{ viewer(id: 1) { id } }', '{ viewer @include(if: true, unless: false) { id } }', '{ viewer { login(a: 1) } }', '{ __typename(a: 1) }', '{ user(lgoin: "a") { id } }', '{ __type(name: "User", a: 1) { name } }'],
  },
  UniqueArgumentNames: {
    passes: ['{ a: user(login: "a") { id } b: user(login: "a") { id } }', '{ viewer { followers(first: 1, last: null) { totalCount } } }'],
    fails: ['{ user(login: "a", login: "a") { id } }', '{ user(login: "a", login: "b") { id } }', '{ viewer { followers(first: 1, after: null, first: 1) { totalCount } } }', '{ viewer @skip(if: true, if: true) { id } }', '{ __typename @include(if: true, if: true) }'],
  },
  ValuesOfCorrectType: {
    passes: ['{ node(id: 5) { id } }', '{ nodes(ids: "a") { id } }', '{ nodes(ids: ["a", 5]) { id } }', '{ viewer { followers(first: null) { totalCount } } }', 'mutation { postStatus(input: { message: "a", location: { latitude: 1, longitude: -2.5 } }) { status { id } } }', 'mutation { createCampaign(input: { name: "a", budget: 5 }) { campaign { id } } }', 'mutation { createCampaign(input: { name: "a", budget: "2.25", startsAt: "2026-03-01T09:30:00Z" }) { campaign { id } } }', 'query Q($v: Int = 3) { homeTimeline { entries(first: $v) { edges { cursor } } } }', 'query Q($v: [ID!] = "a") { viewer { id } nodes(ids: $v) { id } }', 'mutation { voteComment(input: { commentId: "a", vote: UP }) { userErrors { code } } }', '{ user(login: """block""") { id } }'],
    fails: [
      '{ user(login: 1) { id } }', '{ user(login: null) { id } }', '{ user(login: true) { id } }', '{ user(login: ABC) { id } }', '{ user(login: ["a"]) { id } }', '{ user(login: {a: 1}) { id } }',
      '{ node(id: 1.5) { id } }', '{ node(id: true) { id } }', '{ node(id: ["a"]) { id } }', '{ nodes(ids: [["a"]]) { id } }', '{ nodes(ids: ["a", null]) { id } }', '{ nodes(ids: null) { id } }', '{ nodes(ids: [1.5]) { id } }', '{ nodes(ids: {}) { id } }',
      '{ viewer { followers(first: "1") { totalCount } } }', '{ viewer { followers(first: 1.0) { totalCount } } }', '{ viewer { followers(first: 2147483648) { totalCount } } }', '{ viewer { followers(first: -2147483649) { totalCount } } }', '{ viewer { followers(first: true) { totalCount } } }', '{ viewer { followers(first: [1]) { totalCount } } }',
      '{ viewer @include(if: "true") { id } }', '{ viewer @include(if: 1) { id } }', '{ viewer @skip(if: null) { id } }',
      'mutation { voteComment(input: { commentId: "a", vote: "UP" }) { userErrors { code } } }', 'mutation { voteComment(input: { commentId: "a", vote: SIDEWAYS }) { userErrors { code } } }', 'mutation { voteComment(input: { commentId: "a", vote: up }) { userErrors { code } } }', 'mutation { voteComment(input: { commentId: "a" }) { userErrors { code } } }', 'mutation { voteComment(input: { commentId: "a", vote: UP, nope: 1 }) { userErrors { code } } }', 'mutation { voteComment(input: "a") { userErrors { code } } }', 'mutation { voteComment(input: null) { userErrors { code } } }', 'mutation { voteComment(input: [1]) { userErrors { code } } }',
      'mutation { postStatus(input: { message: "a", location: { latitude: "1", longitude: 2 } }) { status { id } } }', 'mutation { postStatus(input: { message: "a", location: { latitude: 1 } }) { status { id } } }', 'mutation { postStatus(input: { message: "a", location: 5 }) { status { id } } }', 'mutation { postStatus(input: {}) { status { id } } }', 'mutation { postStatus(input: { message: null }) { status { id } } }',
      'mutation { createCampaign(input: { name: "a", budget: "abc" }) { campaign { id } } }', 'mutation { createCampaign(input: { name: "a", budget: true }) { campaign { id } } }', 'mutation { createCampaign(input: { name: "a", budget: "1e3" }) { campaign { id } } }', 'mutation { createCampaign(input: { name: "a", budget: [1] }) { campaign { id } } }', 'mutation { createCampaign(input: { name: "a", budget: {a: 1} }) { campaign { id } } }', 'mutation { createCampaign(input: { name: "a", budget: ABC }) { campaign { id } } }', 'mutation { createCampaign(input: { name: "a", budget: 5, startsAt: "yesterday" }) { campaign { id } } }', 'mutation { createCampaign(input: { name: "a", budget: 5, startsAt: 5 }) { campaign { id } } }', 'mutation { createCampaign(input: { name: "a", budget: 5, startsAt: "2026-13-01T00:00:00Z" }) { campaign { id } } }', 'mutation { createCampaign(input: { name: "a", budget: 5, keywords: ["a", 1] }) { campaign { id } } }', 'mutation { createCampaign(input: { name: "a", budget: 5, frequencyCap: { impressions: 2147483648, perSeconds: 1 } }) { campaign { id } } }',
      'query Q($v: Int = "3") { homeTimeline { entries(first: $v) { edges { cursor } } } }', 'query Q($v: Int! = null) { homeTimeline { entries(first: $v) { edges { cursor } } } }', 'mutation M($v: CommentVote! = "UP") { voteComment(input: { commentId: "a", vote: $v }) { userErrors { code } } }', 'query Q($v: [ID!] = [null]) { nodes(ids: $v) { id } }', 'mutation M($v: PostStatusInput = {}) { postStatus(input: $v) { status { id } } }', '{ __type(name: 5) { name } }', '{ __type(name: "User") { fields(includeDeprecated: 1) { name } } }',
    ],
  },
  ProvidedRequiredArguments: {
    passes: ['{ viewer { followers { totalCount } } }', '{ user(login: "a") { id } }', '{ __type(name: "User") { fields { name } } }', 'mutation { deleteComment(input: { commentId: "a" }) { userErrors { code } } }'],
    fails: ['{ user { id } }', '{ node { id } }', '{ nodes { id } }', '{ viewer @include { id } }', '{ viewer @skip(a: true) { id } }', '{ __type { name } }', 'mutation { postStatus { status { id } } }', '{ explainAd(campaignId: "a") { __typename } }', '{ __typename @skip }'],
  },
  VariablesInAllowedPosition: {
    passes: [
      [place('String!', 'user(login: $v) { id }'), null, { v: 'a' }], [place('ID!', 'nodes(ids: [$v]) { id }'), null, { v: 'a' }], [place('[ID!]!', 'nodes(ids: $v) { id }'), null, { v: ['a'] }], [place('Int!', 'homeTimeline { entries(first: $v) { edges { cursor } } }'), null, { v: 1 }], [place('Boolean = true', 'serverLimits @include(if: $v) { depth }'), null, {}], [place('Boolean = false', 'serverLimits @include(if: $v) { depth }'), null, {}], [place('String = "a"', 'user(login: $v) { id }'), null, {}], [place('Boolean', '__type(name: "User") { fields(includeDeprecated: $v) { name } }'), null, {}],
      ['mutation M($v: Boolean) { deleteComment(input: { commentId: "a", withReplies: $v }) { userErrors { code } } }', null, {}],
    ],
    fails: [
      [place('String', 'user(login: $v) { id }'), null, { v: 'a' }], [place('[ID]!', 'nodes(ids: $v) { id }'), null, { v: ['a'] }], [place('[ID!]', 'nodes(ids: $v) { id }'), null, { v: ['a'] }], [place('ID', 'nodes(ids: [$v]) { id }'), null, { v: 'a' }], [place('ID!', 'nodes(ids: $v) { id }'), null, { v: 'a' }], [place('Boolean', 'serverLimits @include(if: $v) { depth }'), null, { v: true }], [place('Boolean = null', 'serverLimits @include(if: $v) { depth }'), null, { v: true }], [place('String!', 'homeTimeline { entries(first: $v) { edges { cursor } } }'), null, { v: '1' }], [place('Int!', 'node(id: $v) { id }'), null, { v: 1 }], [place('String!', 'node(id: $v) { id }'), null, { v: 'a' }], [place('Float', 'homeTimeline { entries(first: $v) { edges { cursor } } }'), null, { v: 1 }], [place('Boolean', '__typename @skip(if: $v)'), null, { v: true }], [place('String', '__type(name: $v) { name }'), null, { v: 'a' }],
      ['mutation M($m: String) { postStatus(input: { message: $m }) { status { id } } }', null, { m: 'a' }], ['mutation M($m: Int!) { postStatus(input: { message: $m }) { status { id } } }', null, { m: 1 }], ['mutation M($l: Int!) { postStatus(input: { message: "a", location: { latitude: $l, longitude: 1 } }) { status { id } } }', null, { l: 1 }], ['mutation M($v: String!) { voteComment(input: { commentId: "a", vote: $v }) { userErrors { code } } }', null, { v: 'UP' }], ['query Q($v: String) { ...F } fragment F on Query { user(login: $v) { id } }', null, { v: 'a' }], ['query A($v: String!) { ...F } query B($v: String) { ...F } fragment F on Query { user(login: $v) { id } }', 'A', { v: 'a' }],
    ],
  },
  OverlappingFieldsCanBeMerged: {
    passes: ['{ viewer { login login } }', '{ viewer { login } viewer { name } }', '{ a: user(login: "a") { id } b: user(login: "b") { id } }', '{ viewer { followers(first: 1) { totalCount } followers(first: 1) { pageInfo { hasNextPage } } } }', '{ node(id: "x") { ... on User { a: login } ... on Status { a: message } } }', '{ node(id: "x") { ... on User { id } ... on Status { id } id } }', '{ node(id: "x") { ... on User { x: createdAt } ... on UserList { x: createdAt } } }', 'mutation { postStatus(input: {message: "a", idempotencyKey: "b"}) { status { id } } postStatus(input: {idempotencyKey: "b", message: "a"}) { userErrors { code } } }'],
    fails: ['{ viewer { a: login a: name } }', '{ viewer { login: name login } }', '{ user(login: "a") { id } user(login: "b") { id } }', '{ nodes(ids: ["a"]) { id } nodes(ids: ["a", "b"]) { id } }', '{ viewer { followers(first: 1) { totalCount } followers { totalCount } } }', '{ viewer { followers(first: 1) { totalCount } followers(last: 1) { totalCount } } }', '{ node(id: "x") { ... on User { a: login } ... on Status { a: likeCount } } }', '{ viewer { ...A ...B } } fragment A on User { x: login } fragment B on User { x: name }', '{ viewer { x: login } viewer { x: name } }', '{ node(id: "x") { ... on Node { a: id } ... on User { a: login } } }', '{ node(id: "x") { ... on User { a: login } ... on Status { a: author { id } } } }', ['query Q($a: ID!, $b: ID!) { node(id: $a) { id } node(id: $b) { id } }', null, { a: 'a', b: 'b' }], '{ node(id: "x") { ... on User { a: profileTimeline { entries { totalCount: __typename } } } ... on UserList { a: members { totalCount } a: timeline { entries { totalCount: pageInfo { hasNextPage } } } } } }'],
  },
  UniqueInputFieldNames: {
    passes: ['mutation { postStatus(input: { message: "a", idempotencyKey: "b" }) { status { id } } }', 'mutation { a: postStatus(input: { message: "a" }) { status { id } } b: postStatus(input: { message: "a" }) { status { id } } }'],
    fails: ['mutation { postStatus(input: { message: "a", message: "b" }) { status { id } } }', 'mutation { postStatus(input: { message: "a", location: { latitude: 1, latitude: 1, longitude: 1 } }) { status { id } } }', 'mutation { postStatus(input: { message: "a", message: "a" }) { status { id } } }', ['mutation M($v: PostStatusInput! = { message: "a", message: "b" }) { postStatus(input: $v) { status { id } } }', null, {}], 'subscription { statusEvents(filter: { locations: [{ minLatitude: 1, minLatitude: 2, maxLatitude: 2, minLongitude: 1, maxLongitude: 2 }] }) { cursor } }'],
  },
  MaxIntrospectionDepth: {
    passes: ['{ __schema { types { fields { type { name } } } } }', '{ __type(name: "User") { fields { type { ofType { name } } } } }', '{ __schema { queryType { fields { args { type { name } } } } } }'],
    fails: ['{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }', '{ __type(name: "User") { fields { type { fields { type { fields { name } } } } } } }', '{ __schema { types { interfaces { possibleTypes { interfaces { name } } } } } }'],
  },
  Parsing: {
    passes: ['{ viewer { id } } # the end', '\ufeff{ viewer { id } }', '{ user(login: "a\\u0062\\n") { id } }', '{,,viewer{,id,}}', '{ user(login: "") { id } }', 'query { viewer { id } }'],
    fails: ['', '{', '{ viewer', '{ viewer { id }', '{ viewer { } }', '{ user(login: ) { id } }', '{ user() { id } }', '{ user(login: "a) { id } }', '{ user(login: "a\nb") { id } }', '{ user(login: "\\q") { id } }', '{ user(login: "\\uD800") { id } }', '{ node(id: 1a) { id } }', '{ node(id: 1.) { id } }', '{ node(id: +1) { id } }', '{ ... }', '{ viewer { ...on User } }', 'fragment F on User { id }', 'query ($v) { viewer { id } }', '{ viewer { id } } }', 'subscribe { viewer { id } }', '{ a: b: viewer { id } }', '{ viewer { id } } junk', '{ viewer @ { id } }', '{ node(id: $) { id } }', '{ viewer { id ? } }', "{ user(login: 'a') { id } }"],
  },
};

// Variables of every kind. Rows: type, values that fit, values that do not.
const plain = [
  ['ID!', 'node(id: $v) { id }', ['a', '', 5, -5, 1.0], [null, undefined, 1.5, true, ['a'], {}, { a: 1 }]],
  ['[ID!]!', 'nodes(ids: $v) { id }', [[], ['a'], ['a', 5], 'a', 5], [null, undefined, [null], ['a', null], [['a']], true, [1.5], {}, [{}]]],
  ['String!', 'user(login: $v) { id }', ['a', '', '5', 'null'], [null, undefined, 5, 1.5, true, ['a'], {}, []]],
  ['Int', 'homeTimeline { entries(first: $v) { edges { cursor } } }', [1, 1.0, 100, 0, -1, null, undefined, 2147483647, -2147483648], ['1', '', 1.5, true, [1], {}, 2147483648, -2147483649, 1e20]],
  ['Int!', 'homeTimeline { entries(first: $v) { edges { cursor } } }', [1, 50], [null, undefined, '1', 9007199254740993]],
  ['Int = 5', 'homeTimeline { entries(first: $v) { edges { cursor } } }', [1, null, undefined], ['1', 1.5, false]],
  ['Int! = 5', 'homeTimeline { entries(first: $v) { edges { cursor } } }', [1, undefined], [null, '1']],
  ['Boolean!', 'serverLimits @include(if: $v) { depth }', [true, false], [null, undefined, 'true', 1, 0, [true], {}]],
  ['Boolean!', 'serverLimits @skip(if: $v) { depth }', [true, false], [null, undefined, 'false']],
  ['Boolean = true', 'serverLimits @include(if: $v) { depth }', [true, false, undefined], ['true', 1]],
  ['Boolean', '__type(name: "User") { fields(includeDeprecated: $v) { name } }', [true, undefined], ['true', 1]],
  ['[String!]', 'explainAd(campaignId: "a", slot: BANNER, keywords: $v) { __typename }', [null, undefined, [], ['a'], 'a'], [[null], [1], 1, {}, [['a']]]],
  ['AdSlot!', 'explainAd(campaignId: "a", slot: $v) { __typename }', ['BANNER', 'IN_FEED'], [null, undefined, 'banner', 'NOPE', '', 1, true, ['BANNER'], {}]],
];

// Input objects: type, root field, inner selection, values that fit, values that do not.
const location = { latitude: 1, longitude: 2 };
const campaign = { name: 'a', budget: '5' };
const objects = [
  ['PostStatusInput!', 'postStatus', [
    { message: 'a' }, { message: 'a', idempotencyKey: null }, { message: 'a', location }, { message: 'a', location: null }, { message: 'a', location: { latitude: 1.5, longitude: -2 } },
  ], [
    null, undefined, {}, { message: null }, { message: 5 }, { message: true }, { message: ['a'] }, { message: 'a', nope: 1 }, { message: 'a', idempotencyKey: 5 }, { message: 'a', location: {} }, { message: 'a', location: { latitude: 1 } }, { message: 'a', location: { latitude: '1', longitude: 2 } }, { message: 'a', location: { latitude: null, longitude: 2 } }, { message: 'a', location: { ...location, altitude: 3 } }, { message: 'a', location: 'here' }, { message: 'a', location: [] }, 'a', 5, true, [], [1], { Message: 'a' },
  ]],
  ['VoteCommentInput!', 'voteComment', [{ commentId: 'a', vote: 'UP' }, { commentId: 5, vote: 'NONE' }], [
    { commentId: 'a' }, { vote: 'UP' }, { commentId: 'a', vote: 'up' }, { commentId: 'a', vote: null }, { commentId: 'a', vote: 1 }, { commentId: 'a', vote: ['UP'] }, { commentId: 1.5, vote: 'UP' }, { commentId: 'a', vote: {} },
  ]],
  ['DeleteCommentInput!', 'deleteComment', [{ commentId: 'a' }, { commentId: 'a', withReplies: true }], [{ commentId: 'a', withReplies: null }, { commentId: 'a', withReplies: 1 }, { withReplies: true }]],
  ['CreateCampaignInput!', 'createCampaign', [
    campaign, { ...campaign, budget: 5 }, { ...campaign, budget: 2.5 }, { ...campaign, budget: '-1' }, { ...campaign, dailyBudget: null }, { ...campaign, startsAt: '2026-03-01T09:30:00.000Z' }, { ...campaign, startsAt: '2026-03-01T09:30:00+02:00' }, { ...campaign, endsAt: null }, { ...campaign, keywords: ['a', 'b'] }, { ...campaign, keywords: 'a' }, { ...campaign, pacing: 'EVEN' }, { ...campaign, frequencyCap: { impressions: 1, perSeconds: 60 } },
  ], [
    { name: 'a' }, { ...campaign, budget: 'abc' }, { ...campaign, budget: '' }, { ...campaign, budget: null }, { ...campaign, budget: true }, { ...campaign, budget: [1] }, { ...campaign, budget: {} }, { ...campaign, budget: '1e3' }, { ...campaign, dailyBudget: 'x' }, { ...campaign, startsAt: 'yesterday' }, { ...campaign, startsAt: 5 }, { ...campaign, startsAt: '2026-02-30T00:00:00Z' }, { ...campaign, startsAt: '1969-12-31T23:59:59Z' }, { ...campaign, startsAt: '2026-03-01' }, { ...campaign, endsAt: true }, { ...campaign, keywords: [1] }, { ...campaign, keywords: [null] }, { ...campaign, keywords: {} }, { ...campaign, pacing: 'FAST' }, { ...campaign, pacing: 1 }, { ...campaign, frequencyCap: {} }, { ...campaign, frequencyCap: { impressions: 1, perSeconds: 2147483648 } }, { ...campaign, frequencyCap: { impressions: '1', perSeconds: 1 } }, { ...campaign, frequencyCap: { impressions: 1.5, perSeconds: 1 } },
  ]],
  ['RecordImpressionsInput!', 'recordImpressions', [{ tokens: [] }, { tokens: ['a'] }, { tokens: 'a' }], [{ tokens: null }, { tokens: [null] }, { tokens: [5] }, { tokens: {} }, {}]],
];

// Parts of an input as variables of their own.
const parts = [
  ['mutation M($m: String!, $k: String!) { postStatus(input: { message: $m, idempotencyKey: $k }) { status { id } } }', [{ m: 'a', k: 'b' }], [{ m: 'a' }, { m: 'a', k: null }, { k: 'b' }, {}]],
  ['mutation M($m: String = "a") { postStatus(input: { message: $m }) { status { id } } }', [{}, { m: 'b' }], [{ m: 5 }]],
  ['mutation M($l: LocationInput) { postStatus(input: { message: "a", location: $l }) { status { id } } }', [{}, { l: null }, { l: location }], [{ l: {} }, { l: 5 }]],
  ['mutation M($x: Float!) { postStatus(input: { message: "a", location: { latitude: $x, longitude: 1 } }) { status { id } } }', [{ x: 1 }, { x: 1.5 }, { x: -1e3 }], [{}, { x: null }, { x: '1' }, { x: true }]],
  ['mutation M($b: Decimal!) { a: postStatus(input: { message: "a" }) { status { id } } b: createCampaign(input: { name: "a", budget: $b }) { campaign { id } } }', [{ b: '2.25' }, { b: 2 }], [{ b: 'abc' }, { b: null }, {}, { b: [] }]],
  ['mutation M($t: DateTime) { createCampaign(input: { name: "a", budget: 1, startsAt: $t }) { campaign { id } } }', [{}, { t: null }, { t: '2026-03-01T00:00:00Z' }], [{ t: 'soon' }, { t: 1 }]],
  ['mutation M($v: CommentVote = UP) { voteComment(input: { commentId: "a", vote: $v }) { userErrors { code } } }', [{}, { v: 'DOWN' }], [{ v: 'up' }, { v: 1 }]],
  ['mutation M($k: String!) { createCampaign(input: { name: "a", budget: 1, keywords: [$k] }) { campaign { id } } }', [{ k: 'a' }], [{ k: null }, {}, { k: ['a'] }]],
  ['query Q($a: Int = 5, $b: Int = 7) { homeTimeline { entries(first: $a) { edges { cursor } } } viewer { followers(first: $b) { totalCount } } }', [{}, { a: 1 }, { b: null }], [{ a: '1' }, { b: 1.5 }]],
  ['query A($n: Int!) { viewer { followers(first: $n) { totalCount } } } query B { viewer { id } }', [{ operation: 'B' }, { n: 1, operation: 'A' }], [{ operation: 'A' }, { n: 'x', operation: 'A' }]],
  ['subscription S($f: StatusFilter!) { statusEvents(filter: $f) { cursor } }', [{ f: { track: ['a'] } }, { f: { sample: { percent: 1 } } }, { f: { locations: [{ minLatitude: 1, minLongitude: 1, maxLatitude: 2, maxLongitude: 2 }] } }], [{}, { f: null }, { f: { track: [1] } }, { f: { sample: {} } }, { f: { locations: [{}] } }, { f: { nope: 1 } }, { f: [] }]],
  ['query Q { viewer { id } }', [{ unknown: 1 }, {}], []],
];

// Where the server decides otherwise, by document and variables.
const differences = [
  {
    query: 'subscription { homeTimelineEvents @skip(if: false) { cursor } }', runs: false,
    differs: 'The October 2025 specification forbids @skip and @include at the root of a subscription; graphql-js 16 does not know that yet.',
  },
  {
    query: 'query Q($v: Boolean = true) { serverLimits @include(if: $v) { depth } }', variables: { v: null }, runs: false,
    differs: 'An explicit null where a value is required is an error of execution in graphql-js, at that field or for the whole response. Here nothing runs.',
  },
  {
    query: 'mutation M($v: Boolean) { deleteComment(input: { commentId: "a", withReplies: $v }) { userErrors { code } } }', variables: { v: null }, runs: false,
    differs: 'As above.',
  },
  {
    query: '{ user(login: "\\u{1F600}") { id } }', runs: false,
    differs: 'The parser does not know escapes of variable width. The character itself is taken.',
  },
  {
    query: '{ user(login: "\\uD83D\\uDE00") { id } }', runs: false,
    differs: 'The parser does not know surrogate pairs. The character itself is taken.',
  },
  {
    query: '{ node(id: 123456789012345678901234567890) { id } }', runs: false,
    differs: 'An id as a number of more than 64 bits is no id of this server; the parser does not keep its digits.',
  },
  {
    query: 'query Q($v: ID!) { node(id: $v) { id } }', variables: { v: 1e30 }, runs: false,
    differs: 'As above.',
  },
  {
    query: 'queryQ { viewer { id } }', runs: true,
    differs: 'The parser does not require a blank after a keyword. The document has no other meaning.',
  },
  {
    query: 'query() { viewer { id } }', runs: true,
    differs: 'The parser takes empty parentheses for no variables. Nothing else can be meant.',
  },
  {
    query: '{ viewer { ... on # comment\n User { id } } }', runs: false,
    differs: 'The parser does not accept a comment after `on`.',
  },
];

export function cases() {
  const all = [];
  const add = (group, query, rest = {}) => all.push({ group, query, ...rest });
  const row = (document) => (Array.isArray(document) ? document : [document]);
  for (const [rule, { passes, fails }] of Object.entries(rules)) {
    for (const [documents, runs] of [[passes, true], [fails, false]]) {
      for (const [query, operationName, variables] of documents.map(row)) add(rule, query, { operationName: operationName ?? undefined, variables, runs });
    }
  }
  for (const [type, at, fits, wrong] of plain) {
    for (const [values, runs] of [[fits, true], [wrong, false]]) {
      for (const v of values) add('variables', place(type, at), { variables: v === undefined ? {} : { v }, runs });
    }
  }
  for (const [type, root, fits, wrong] of objects) {
    for (const [values, runs] of [[fits, true], [wrong, false]]) {
      for (const value of values) add('variables', input(type, root), { variables: value === undefined ? {} : { input: value }, runs });
    }
  }
  for (const [query, fits, wrong] of parts) {
    for (const [values, runs] of [[fits, true], [wrong, false]]) {
      for (const { operation, ...variables } of values) add('variables', query, { operationName: operation, variables, runs });
    }
  }
  for (const difference of differences) add('differences', difference.query, difference);
  return all;
}
