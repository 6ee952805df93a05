%% The Erlang/OTP end of the tests.
%%   echo:serve()       registers the process echo, says "up" and echoes until the node ends
%%   echo:ask([Node])   asks the process echo of Node in every way, says "ok" and ends the node
%%   echo:rate([Node, Clients, Seconds])
%%                      says how many times a second so many processes were answered
%% The echo answers a pid with five bytes, {Pid, Ref, Anything} with {Ref, Anything}, and
%% {Pid, Anything} with Anything.
-module(echo).
-export([serve/0, ask/1, rate/1]).

serve() ->
    register(echo, self()),
    io:format("up~n"),
    loop().

loop() ->
    receive
        Pid when is_pid(Pid) -> Pid ! <<1, 2, 3, 4, 5>>;
        {Pid, Ref, Anything} when is_pid(Pid) -> Pid ! {Ref, Anything};
        {Pid, Anything} when is_pid(Pid) -> Pid ! Anything
    end,
    loop().

ask([Node]) ->
    try
        ask_all(Node),
        io:format("ok~n")
    catch
        Class:Reason:Stack -> io:format("~p ~p~n~p~n", [Class, Reason, Stack])
    end,
    halt(0).

ask_all(Node) ->
    pong = net_adm:ping(Node),
    true = lists:member(Node, nodes(hidden)),
    {echo, Node} ! self(),
    <<1, 2, 3, 4, 5>> = answer(),
    [same(Node, Term) || Term <- terms()],
    [same(Node, binary:copy(<<7>>, Size)) || Size <- [0, 1000, 65536, 100000, 1048576, 5000000]],
    Ref = make_ref(),
    {echo, Node} ! {self(), Ref, hello},
    {Ref, hello} = answer(),
    together(Node),
    watch(Node).

same(Node, Term) ->
    {echo, Node} ! {self(), Term},
    Term = answer().

answer() ->
    receive Answer -> Answer after 10000 -> error(no_answer) end.

terms() ->
    [0, 255, 256, -1, 1 bsl 31, -(1 bsl 31), -(1 bsl 31) - 1, 1 bsl 63, -(1 bsl 63), 1 bsl 64, 1 bsl 3000, -(1 bsl 3000),
     0.0, 1.5, -1.0e300, ok, '', 'with space', list_to_atom([246, 1080]), list_to_atom(lists:duplicate(255, 1080)),
     <<>>, <<"text">>, <<1:3>>, {}, {1}, {a, {b, [c]}}, list_to_tuple(lists:seq(1, 300)),
     [], [1], "string", [a | b], [1, 2 | 3], lists:seq(1, 70000), #{}, #{a => 1, {b} => [c]},
     self(), make_ref(), hd(erlang:ports()), fun erlang:node/0].

%% Many processes at one time, each of which gets its own answers.
together(Node) ->
    Self = self(),
    Pids = [spawn(fun() -> [same(Node, {N, I}) || I <- lists:seq(1, 200)], Self ! {done, self()} end) || N <- lists:seq(1, 8)],
    [receive {done, Pid} -> ok after 30000 -> error(too_slow) end || Pid <- Pids].

%% Monitors and links of what is not there, and of what ends when it is told to.
watch(Node) ->
    Ref = erlang:monitor(process, {nobody, Node}),
    {'DOWN', Ref, process, {nobody, Node}, noproc} = answer(),
    There = erlang:monitor(process, {echo, Node}),
    true = erlang:demonitor(There, [flush, info]),
    {closer, Node} ! self(),
    Pid = answer(),
    Closing = erlang:monitor(process, Pid),
    process_flag(trap_exit, true),
    link(Pid),
    unlink(Pid),
    link(Pid),
    Pid ! close,
    Ends = lists:sort([answer(), answer()]),
    [{'EXIT', Pid, normal}, {'DOWN', Closing, process, Pid, normal}] = Ends,
    link(Pid),
    {'EXIT', Pid, noproc} = answer().

rate([Node, Clients, Seconds]) ->
    pong = net_adm:ping(Node),
    Count = counters:new(1, [write_concurrency]),
    [spawn(fun() -> client({echo, Node}, Count) end) || _ <- lists:seq(1, number(Clients))],
    timer:sleep(number(Seconds) * 333),
    From = counters:get(Count, 1),
    Begun = erlang:monotonic_time(microsecond),
    timer:sleep(number(Seconds) * 1000),
    Done = counters:get(Count, 1) - From,
    io:format("~.1f~n", [Done * 1.0e6 / (erlang:monotonic_time(microsecond) - Begun)]),
    halt(0).

client(Echo, Count) ->
    Echo ! self(),
    receive <<1, 2, 3, 4, 5>> -> counters:add(Count, 1, 1) end,
    client(Echo, Count).

number(Atom) -> list_to_integer(atom_to_list(Atom)).
