# Waiting for native threads without blocking Julia: tasks wait for an event that one pump task sets, woken through
# libuv. Where libuv cannot help, waits are short native slices.

mutable struct Session
    condition::Base.AsyncCondition
    lock::ReentrantLock
    # Who waits for news of which handle.
    waiting::Dict{UInt64, Vector{Base.Event}}
    pump::Task
    Session(condition) = new(condition, ReentrantLock(), Dict{UInt64, Vector{Base.Event}}())
end

# One per process, opened by the first wait and closed at exit.
const SESSION = Ref{Union{Session, Nothing}}(nothing)

function session()
    current = SESSION[]
    current === nothing || return current
    s = Session(Base.AsyncCondition())
    check(forcings_session_attach(s.condition.handle, cglobal(:uv_async_send)))
    s.pump = @async pump(s)
    SESSION[] = s
    return s
end

# The only task that waits for the condition. Wake-ups merge, so it drains the queue until that is empty.
function pump(s::Session)
    handles, count = Vector{UInt64}(undef, 64), Ref{UInt64}(0)
    while isopen(s.condition)
        try
            wait(s.condition)
        catch
            # The condition was closed, or an interrupt came here by chance: the loop tells them apart.
            continue
        end
        while forcings_session_drain(handles, length(handles), count) == 0 && count[] > 0
            foreach(handle -> wake(s, handle), view(handles, 1:Int(count[])))
        end
    end
    return nothing
end

function wake(s::Session, handle)
    events = lock(() -> pop!(s.waiting, handle, Base.Event[]), s.lock)
    foreach(notify, events)
    return nothing
end

function close_session()
    s = SESSION[]
    s === nothing && return nothing
    check(forcings_session_detach())
    SESSION[] = nothing
    close(s.condition)
    return nothing
end

const SLICE_MS = 10

# Returns when `ready()` is true. News of `handle` come through the session; `slice(ms)` waits natively, at most that
# long. libuv's events are served on the first thread, which on another thread may be busy for as long as it likes.
function wait_until(ready, slice, handle::UInt64)
    if Threads.threadid() != 1
        while !ready()
            slice(SLICE_MS)
            GC.safepoint()
            yield()
            # From Julia 1.7 on a task may go on on another thread.
            Threads.threadid() == 1 && return wait_until(ready, slice, handle)
        end
        return nothing
    end
    s = session()
    waiting = true
    while waiting
        event = Base.Event()
        # Registered before the question is asked, so that no news is lost between the two.
        lock(() -> push!(get!(() -> Base.Event[], s.waiting, handle), event), s.lock)
        try
            waiting = !ready()
            waiting && wait(event)
        finally
            lock(() -> forget(s.waiting, handle, event), s.lock)
        end
    end
    return nothing
end

function forget(waiting, handle, event)
    events = get(waiting, handle, nothing)
    events === nothing && return nothing
    filter!(e -> e !== event, events)
    isempty(events) && delete!(waiting, handle)
    return nothing
end

# Runs a long native call. `call(out_job)` is the foreign call; what it borrows must stay reachable in the caller.
# With one Julia thread nothing else could run meanwhile, so it runs right here; otherwise on a native thread, while
# this task waits and neither Julia's collector nor another task is held up. `outcome` gets the status of a call that
# opens nothing, also when the wait for it was interrupted. A call that waits for other tasks of Julia's is never `alone`.
function background(call, outcome::Union{Ref{Int32}, Nothing} = nothing; alone::Bool = Threads.nthreads() == 1)
    if alone
        status = call(C_NULL)
        outcome === nothing || (outcome[] = status)
        return check(status)
    end
    job = Ref{UInt64}(0)
    check(call(job))
    done = Ref{UInt8}(0)
    finished(timeout) = (check(forcings_job_wait(job[], timeout, done)); done[] != 0)
    try
        wait_until(() -> finished(0), finished, job[])
    catch
        # The call writes to its caller's memory: whatever interrupts the wait must not outrun it.
        while !finished(SLICE_MS)
            GC.safepoint()
            # With one thread this is the close of a group, which writes nothing, and may wait for another task.
            Threads.nthreads() == 1 && yield()
        end
        if outcome === nothing
            # Nobody takes the result: closing the job drops it, and with it what the call has opened.
            forcings_handle_release(job[])
        else
            outcome[] = forcings_job_finish(job[])
        end
        rethrow()
    end
    status = forcings_job_finish(job[])
    outcome === nothing || (outcome[] = status)
    return check(status)
end
